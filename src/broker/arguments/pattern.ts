import { RE2JS } from 're2js';
import { MAX_TEXT_CHARACTERS } from '../pattern-length.js';
import type { Pattern } from './rule.js';

/** Longer expressions are not compiled. The longest of 1,312 real tools has under 400 characters. */
const MAX_PATTERN_CHARACTERS = 2_000;
/** Matching time is proportional to the program size and to the text length. Their product bounds the cost of one match. */
const MAX_PROGRAM_SIZE = 4_000;

/**
 * An untrusted `pattern`, or `undefined` if it can't be checked. Look-arounds and back-references need an engine that
 * backtracks, and then a server could block the host for hours with `^(a+)+$`. The dialect differs in a few places (`\s` is
 * ASCII, `.` matches a carriage return).
 */
export function readPattern(source: string): Pattern | undefined {
  if (source.length > MAX_PATTERN_CHARACTERS) return undefined;
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source));
    if (compiled.programSize() > MAX_PROGRAM_SIZE) return undefined;
    return { source, test: (text) => text.length > MAX_TEXT_CHARACTERS || compiled.test(text) };
  } catch {
    return undefined; // not an expression, or one that the engine can't express
  }
}
