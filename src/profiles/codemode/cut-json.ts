/**
 * The beginning of a JSON text as JSON of its own: what fits into so many characters, with the lists, objects and the
 * string that are open there closed. Only as much of the text is looked at.
 */
export function cutJson(json: string, characters: number): string {
  if (json.length <= characters) return json;
  const open: string[] = [];
  /** The last place where the text may end, and what closes it there. */
  let safe = { at: 0, closers: '' };
  let at = 0;
  while (at < characters) {
    const character = json[at] as string;
    if (character === '"') {
      const end = endOfString(json, at, characters);
      if (end === undefined) return isKey(json, at, open) ? cutAt(json, safe) : cutString(json, characters, open);
      at = end;
      continue;
    }
    if (character === '{' || character === '[') {
      open.push(character === '{' ? '}' : ']');
      safe = { at: at + 1, closers: closersOf(open) };
    } else if (character === '}' || character === ']') {
      open.pop();
      safe = { at: at + 1, closers: closersOf(open) };
    } else if (character === ',') safe = { at, closers: closersOf(open) };
    at += 1;
  }
  return cutAt(json, safe);
}

function closersOf(open: readonly string[]): string {
  return open.toReversed().join('');
}

function cutAt(json: string, { at, closers }: { readonly at: number; readonly closers: string }): string {
  return at === 0 ? 'null' : json.slice(0, at) + closers;
}

/** The place behind a string, unless that is too far away. */
function endOfString(json: string, start: number, most: number): number | undefined {
  for (let at = start + 1; at < most; at += 1) {
    if (json[at] === '\\') at += 1;
    else if (json[at] === '"') return at + 1;
  }
  return undefined;
}

/** A string behind `{` or behind `,` in an object. Whole tokens are read, so there is no white space to look past. */
function isKey(json: string, at: number, open: readonly string[]): boolean {
  return open.at(-1) === '}' && json[at - 1] !== ':';
}

/** Ends inside a string, and not inside of an escape. */
function cutString(json: string, most: number, open: readonly string[]): string {
  const text = json.slice(0, most).replace(UNFINISHED_ESCAPE, '$1');
  return `${text}"${closersOf(open)}`;
}

/** A backslash that no other one escapes, with as much of what it begins as is there. */
const UNFINISHED_ESCAPE = /((?:^|[^\\])(?:\\\\)*)\\(?:u[0-9a-f]{0,3})?$/i;
