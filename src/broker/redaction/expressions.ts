import { RE2JS } from 're2js';
import { HostError } from '../../domain/errors.js';
import type { TextSearch } from './finder.js';

const MAX_EXPRESSIONS = 50;
const MAX_CHARACTERS = 1_000;
/** Matching time is proportional to it and to the text. */
const MAX_PROGRAM_SIZE = 2_000;
/** If a text is checked in parts, each part overlaps its neighbours by this much. A longer match is found in pieces. */
const OVERLAP_CHARACTERS = 16_384;

/**
 * The user's own expressions. The engine has no look-around or back-references, so no text makes it slow. But it is about forty
 * times slower than the fixed patterns, and with an expression every value is checked one by one.
 */
export function compileExpressions(sources: readonly string[]): TextSearch[] {
  if (sources.length > MAX_EXPRESSIONS)
    throw new HostError('bad_config', `redaction.extra has more than ${MAX_EXPRESSIONS} expressions`);
  return sources.map((source, index) => {
    const expression = compile(source, `redaction.extra[${index}]`);
    return (text, found, begin = 0, to = text.length) => {
      const base = Math.max(0, begin - OVERLAP_CHARACTERS);
      const part = base === 0 && to === text.length ? text : text.slice(base, to + OVERLAP_CHARACTERS);
      const matcher = expression.matcher(part);
      for (let from = 0; from <= part.length && matcher.find(from); ) {
        const [start, end] = [matcher.start(), matcher.end()];
        if (end > start && found({ start: base + start, end: base + end, kind: 'custom' })) return text.length;
        from = end > start ? end : end + 1;
      }
      return to;
    };
  });
}

function compile(source: string, place: string): RE2JS {
  try {
    if (source.length <= MAX_CHARACTERS) {
      const expression = RE2JS.compile(source);
      if (expression.programSize() <= MAX_PROGRAM_SIZE && !expression.matches('')) return expression;
    }
  } catch (error) {
    throw new HostError(
      'bad_config',
      `${place} cannot be used: ${error instanceof Error ? error.message : 'no expression'}; look-arounds and back-references are not supported`,
      { cause: error },
    );
  }
  throw new HostError('bad_config', `${place} is too long or matches nothing at all; write a shorter, narrower one`);
}
