/**
 * The source with the contents of strings, comments, templates and regular expressions blanked, character for character: names and
 * punctuation stay at their positions. This is a heuristic, not a parser: undefined if brackets do not pair up, which means that
 * something was misread.
 */
export function maskSource(source: string): MaskedSource | undefined {
  const text = source.split('');
  const partner = new Map<number, number>();
  const open: { readonly at: number; readonly bracket: string }[] = [];
  /** Depths at which a template continues after the `}` of its expression. */
  const templates: number[] = [];
  let at = 0;
  const blank = (from: number, to: number) => {
    for (let each = from; each < to; each += 1) if (text[each] !== '\n') text[each] = ' ';
  };
  const skipTemplate = (from: number): number => {
    for (let each = from; each < source.length; each += 1) {
      if (source[each] === '\\') each += 1;
      else if (source[each] === '`') {
        blank(from, each);
        return each + 1;
      } else if (source[each] === '$' && source[each + 1] === '{') {
        blank(from, each);
        open.push({ at: each + 1, bracket: '{' });
        templates.push(open.length);
        return each + 2;
      }
    }
    return -1;
  };
  while (at < source.length) {
    const character = source[at] as string;
    const next = source[at + 1];
    if (character === '/' && (next === '/' || next === '*')) {
      const end = next === '/' ? source.indexOf('\n', at) : source.indexOf('*/', at + 2) + 2;
      const to = end < 2 ? source.length : end;
      blank(at, to);
      at = to;
    } else if (character === '"' || character === "'") {
      const end = endOfString(source, at);
      if (end < 0) return undefined;
      blank(at + 1, end - 1);
      at = end;
    } else if (character === '`') {
      at = skipTemplate(at + 1);
      if (at < 0) return undefined;
    } else if (character === '/' && mayBeginExpression(text, at)) {
      const end = endOfRegularExpression(source, at);
      if (end < 0) return undefined;
      blank(at + 1, end);
      at = end;
    } else if ('([{'.includes(character)) {
      open.push({ at, bracket: character });
      at += 1;
    } else if (')]}'.includes(character)) {
      const isTemplateEnd = templates.at(-1) === open.length && character === '}';
      const opened = open.pop();
      if (opened === undefined || PARTNERS[opened.bracket] !== character) return undefined;
      partner.set(opened.at, at);
      partner.set(at, opened.at);
      at += 1;
      if (isTemplateEnd) {
        templates.pop();
        at = skipTemplate(at);
        if (at < 0) return undefined;
      }
    } else at += 1;
  }
  return open.length === 0 ? { text: text.join(''), partner } : undefined;
}

export interface MaskedSource {
  readonly text: string;
  /** For each bracket, the position of its partner. */
  readonly partner: ReadonlyMap<number, number>;
}

const PARTNERS: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

function endOfString(source: string, from: number): number {
  for (let at = from + 1; at < source.length && source[at] !== '\n'; at += 1) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === source[from]) return at + 1;
  }
  return -1;
}

function endOfRegularExpression(source: string, from: number): number {
  let isInClass = false;
  for (let at = from + 1; at < source.length && source[at] !== '\n'; at += 1) {
    const character = source[at];
    if (character === '\\') at += 1;
    else if (character === '[') isInClass = true;
    else if (character === ']') isInClass = false;
    else if (character === '/' && !isInClass) return at + 1;
  }
  return -1;
}

const WORDS_BEFORE_EXPRESSIONS = /(?:^|[^\w$.])(?:return|typeof|case|in|of|await|yield|delete|void|throw|new|else|do)$/;

/** Whether a `/` here starts a regular expression: after a value it divides. */
function mayBeginExpression(text: readonly string[], at: number): boolean {
  const before = text
    .slice(Math.max(0, at - 40), at)
    .join('')
    .trimEnd();
  const last = before.at(-1);
  if (last === undefined || '(,=:[!&|?{};+-*%<>~^'.includes(last)) return true;
  return WORDS_BEFORE_EXPRESSIONS.test(before);
}

/** The innermost bracket that is open at a position. */
export function enclosingBracket({ text, partner }: MaskedSource, at: number): number | undefined {
  for (let each = at - 1; each >= 0; each -= 1) {
    const character = text[each] as string;
    if (')]}'.includes(character)) each = partner.get(each) ?? -1;
    else if ('([{'.includes(character)) return each;
  }
  return undefined;
}
