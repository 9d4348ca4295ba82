import { isJsonObject, type JsonValue } from '../../../domain/json.js';
import { quoteVisibly } from '../../../lib/text/visible-text.js';

/** A string literal of the same value, on one line, in which every invisible character stands as an escape. */
export function pythonString(value: string): string {
  // The escapes of JSON mean the same in Python; only those beyond the basic plane are written differently.
  return quoteVisibly(value).replace(/\\(?:\\|u\{([0-9a-f]+)\})/g, (whole, hex: string | undefined) =>
    hex === undefined ? whole : `\\U${hex.padStart(8, '0')}`,
  );
}

/** Comment lines over harmless lines (see `commentLines`). `#:` marks documentation, and is no `# type:` to any checker. */
export function pythonComment(lines: readonly string[], indent: string): string {
  return lines.map((line) => `${indent}#: ${line}\n`).join('');
}

/** A docstring over harmless lines. */
export function docstring(lines: readonly string[], indent: string): string {
  const escaped = lines.map((line) => line.replaceAll('\\', '\\\\').replace(/"(?="|$)/g, '\\"'));
  if (escaped.length <= 1) return `${indent}"""${escaped[0] ?? ''}"""\n`;
  const [first, ...others] = escaped;
  return `${indent}"""${first}\n\n${others.map((line) => `${indent}${line}\n`).join('')}${indent}"""\n`;
}

/** The type of exactly these values, as far as Python has one: no `Literal` of a fraction, a list or an object. */
export function literalAlternatives(values: readonly JsonValue[]): string[] {
  const alternatives = new Set<string>();
  const literals = new Set<string>();
  for (const value of values) {
    if (value === null) alternatives.add('None');
    else if (typeof value === 'string') literals.add(pythonString(value));
    else if (typeof value === 'boolean') literals.add(value ? 'True' : 'False');
    else if (Array.isArray(value)) alternatives.add('list[Any]');
    else if (isJsonObject(value)) alternatives.add('dict[str, Any]');
    // Whole numbers of JavaScript only: others are not spelled as Python spells an `int`.
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
