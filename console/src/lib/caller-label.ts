/** The name of a session without the origin of its link: `root (console, no terminal)`. */
export function sessionLabel(name: string): string {
  return name.replace(/ \(console.*\)$/, '');
}

/** The caller of a run, for people: the same names as in rules, without the prefix that only rules need. */
export function callerLabel(caller: string): string {
  if (caller === 'subject token') return 'a client over HTTP';
  if (caller === 'stdio') return 'a client over stdio';
  if (caller === 'console') return 'this console';
  return caller.replace(/^subject (?:user )?/, '');
}

/** The same inside a sentence: `1 call from the command line`. */
export function callerInSentence(caller: string): string {
  return caller === 'command line' ? 'the command line' : callerLabel(caller);
}
