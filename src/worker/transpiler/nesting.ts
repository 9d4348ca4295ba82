/**
 * A quick estimate of how deeply brackets and statements without braces (`if (a) if (b)`) are nested. The transpiler writes one
 * indented line for each level: 128 KiB of `{` would become gigabytes. This reads a source like a tokenizer, but treats a regular
 * expression as code. A program that hides brackets that way makes the transpiler run out of memory, and is treated like any
 * program that crashes its worker.
 */
export function nestingOf(source: string): number {
  let depth = 0;
  let deepest = 0;
  let unbraced = 0;
  /** The depth at which the first of them began: it ends with the `;` or `}` at the same depth. */
  let unbracedAt = 0;
  /** Depths at which the code inside a template began: a `}` there returns to the template's text. */
  const templates: number[] = [];
  for (let at = 0; at < source.length; at++) {
    const character = source[at] as string;
    switch (character) {
      case '"':
      case "'":
        at = endOfString(source, at);
        break;
      case '`':
        at = endOfText(source, at + 1);
        if (source[at] === '{') templates.push(depth++);
        break;
      case '/':
        at = endOfComment(source, at);
        break;
      case '(':
      case '[':
      case '{':
        depth++;
        break;
      case '}':
        if (templates.at(-1) === depth - 1) {
          depth--;
          templates.pop();
          at = endOfText(source, at + 1);
          if (source[at] === '{') templates.push(depth++);
          break;
        }
        depth = Math.max(0, depth - 1);
        if (depth <= unbracedAt) unbraced = 0;
        break;
      case ')':
      case ']':
        depth = Math.max(0, depth - 1);
        break;
      case ';':
        if (depth <= unbracedAt) unbraced = 0;
        break;
      default:
        if (isLetter(character)) {
          const start = at;
          while (isLetter(source[at + 1] ?? '')) at++;
          if (OPENS_A_STATEMENT.has(source.slice(start, at + 1)) && unbraced++ === 0) unbracedAt = depth;
        }
    }
    deepest = Math.max(deepest, depth + unbraced);
  }
  return deepest;
}

const OPENS_A_STATEMENT = new Set(['if', 'else', 'for', 'while', 'do', 'with']);

function isLetter(character: string): boolean {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || character === '_';
}

/** The end of the string that starts here. Returns the start if it does not end on its line: then it is not a string. */
function endOfString(source: string, start: number): number {
  for (let at = start + 1; at < source.length && at < start + MAX_STRING; at++) {
    if (source[at] === '\\') at++;
    else if (source[at] === source[start]) return at;
    else if (source[at] === '\n') break;
  }
  return start;
}

/** How far the end of a string is searched: a source full of quotes must not be read once for each of them. */
const MAX_STRING = 512;

/** The end of a template's text: its last character, or the `{` where code begins in it. */
function endOfText(source: string, start: number): number {
  for (let at = start; at < source.length; at++) {
    if (source[at] === '\\') at++;
    else if (source[at] === '`') return at;
    else if (source[at] === '$' && source[at + 1] === '{') return at + 1;
  }
  return source.length;
}

function endOfComment(source: string, start: number): number {
  const [open, close] = source[start + 1] === '*' ? ['/*', '*/'] : ['//', '\n'];
  if (!source.startsWith(open, start)) return start;
  const end = source.indexOf(close, start + 2);
  return end < 0 ? source.length : end + close.length - 1;
}
