import { maskSource } from '../check/mask-source.js';

/** A string or number literal in a program. */
export interface SourceLiteral {
  readonly value: string | number;
  readonly from: number;
  readonly to: number;
  /** Counted from 1. */
  readonly line: number;
}

/**
 * The string and number literals of a program that an input can replace. Excluded are module names, object keys, and strings with
 * escapes or expressions. Undefined if the source cannot be scanned this way. Nothing is parsed: the result is checked in the
 * sandbox like any other source.
 */
export function literalsOf(source: string): readonly SourceLiteral[] | undefined {
  const masked = maskSource(source);
  if (masked === undefined) return undefined;
  const { text, partner } = masked;
  const found: SourceLiteral[] = [];
  const add = (from: number, to: number, value: string | number) => {
    if (isNameOfSomething(text, from, to)) return;
    found.push({ value, from, to, line: source.slice(0, from).split('\n').length });
  };
  /** Ends of template expressions: the text of the template continues after them. */
  const continued = new Set<number>();
  const throughTemplate = (from: number): number => {
    const end = text.indexOf('`', from);
    const expression = text.indexOf('${', from);
    if (expression < 0 || end < expression) return end < 0 ? text.length : end + 1;
    continued.add(partner.get(expression + 1) ?? text.length);
    return expression + 2;
  };
  let at = 0;
  while (at < text.length) {
    const character = text[at] as string;
    if (character === '"' || character === "'") {
      const end = text.indexOf(character, at + 1) + 1;
      const inside = source.slice(at + 1, end - 1);
      if (!inside.includes('\\')) add(at, end, inside);
      at = end;
    } else if (character === '`') {
      const end = throughTemplate(at + 1);
      const inside = source.slice(at + 1, end - 1);
      if (text[end - 1] === '`' && !inside.includes('\\')) add(at, end, inside);
      at = end;
    } else if (continued.has(at)) at = throughTemplate(at + 1);
    else {
      const number = NUMBER.exec(text.slice(at, at + MAX_NUMBER_CHARACTERS))?.[0];
      const isOwn = number !== undefined && !/[\w$.]/.test(text[at - 1] ?? '');
      if (isOwn && !/[\w$.]/.test(text[at + number.length] ?? '')) add(at, at + number.length, Number(number));
      at += number?.length ?? 1;
    }
  }
  return found;
}

const NUMBER = /^\d+(?:\.\d+)?/;
const MAX_NUMBER_CHARACTERS = 40;

/** `import 'x'`, `from 'x'`, `import('x')`, and `'x':` in an object. */
function isNameOfSomething(text: string, from: number, to: number): boolean {
  const before = text.slice(Math.max(0, from - 200), from).trimEnd();
  if (/(?:^|[^\w$.])(?:from|import)\s*\(?$/.test(before)) return true;
  return /[{,]$/.test(before) && /^\s*:/.test(text.slice(to, to + 200));
}
