/** The name of a session without the way in which its link was made: `root (console, no terminal)`. */
export function sessionLabel(name: string): string {
  return name.replace(/ \(console.*\)$/, '');
}

/** Who a run belongs to, for a person: the same names as in rules, without the word that only rules need. */
export function callerLabel(caller: string): string {
  if (caller === 'subject token') return 'a client over HTTP';
  if (caller === 'stdio') return 'a client over stdio';
  if (caller === 'console') return 'this console';
  return caller.replace(/^subject (?:user )?/, '');
}
