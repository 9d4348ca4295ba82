import { RE2JS } from 're2js';
import { HostError } from '../../domain/errors.js';
import type { TextSearch } from './finder.js';

const MAX_EXPRESSIONS = 50;
const MAX_CHARACTERS = 1_000;
/** Time is in proportion to it and to the text. */
const MAX_PROGRAM_SIZE = 2_000;
/** Of a text that is checked in parts, so much to both sides is seen with each: a longer match is found in pieces. */
const OVERLAP_CHARACTERS = 16_384;

/**
 * The user's own expressions. The engine can't look around or refer back, so no text makes it slow by nature; but it is
 * some forty times slower than the fixed patterns, and with an expression every value is checked one by one.
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
