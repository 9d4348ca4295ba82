import { isJsonObject, type JsonValue } from '../../../domain/json.js';
import { quoteVisibly } from '../../../lib/text/visible-text.js';

/** A string literal of the same value, on one line, with every invisible character escaped. */
export function pythonString(value: string): string {
  // The escapes of JSON mean the same in Python, except those beyond the basic plane.
  return quoteVisibly(value).replace(/\\(?:\\|u\{([0-9a-f]+)\})/g, (whole, hex: string | undefined) =>
    hex === undefined ? whole : `\\U${hex.padStart(8, '0')}`,
  );
}

/** Comments of escaped lines (see `commentLines`). `#:` marks documentation, and no checker takes it for `# type:`. */
export function pythonComment(lines: readonly string[], indent: string): string {
  return lines.map((line) => `${indent}#: ${line}\n`).join('');
}

/** A docstring of escaped lines. */
export function docstring(lines: readonly string[], indent: string): string {
  const escaped = lines.map((line) => line.replaceAll('\\', '\\\\').replace(/"(?="|$)/g, '\\"'));
  if (escaped.length <= 1) return `${indent}"""${escaped[0] ?? ''}"""\n`;
  const [first, ...others] = escaped;
  return `${indent}"""${first}\n\n${others.map((line) => `${indent}${line}\n`).join('')}${indent}"""\n`;
}

/** The type of exactly these values, as far as Python has one: there is no `Literal` of a fraction, a list or an object. */
export function literalAlternatives(values: readonly JsonValue[]): string[] {
  const alternatives = new Set<string>();
  const literals = new Set<string>();
  for (const value of values) {
    if (value === null) alternatives.add('None');
    else if (typeof value === 'string') literals.add(pythonString(value));
    else if (typeof value === 'boolean') literals.add(value ? 'True' : 'False');
    else if (Array.isArray(value)) alternatives.add('list[Any]');
    else if (isJsonObject(value)) alternatives.add('dict[str, Any]');
    // Only safe integers of JavaScript: others are not written as Python writes an `int`.
    else if (Number.isSafeInteger(value) && !Object.is(value, -0)) literals.add(String(value));
    else alternatives.add('float');
  }
  const isEither = literals.has('True') && literals.has('False');
  if (isEither) {
    literals.delete('True');
    literals.delete('False');
  }
  return [
    ...(literals.size === 0 ? [] : [`Literal[${[...literals].join(', ')}]`]),
    ...(isEither ? ['bool'] : []),
    ...alternatives,
  ];
}

export const PYTHON_CONSTANTS: readonly string[] = ['None', 'True', 'False'];
