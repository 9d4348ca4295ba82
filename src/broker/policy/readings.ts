import type { JsonPrimitive, JsonValue } from '../../domain/json.js';

/**
 * How a tool may interpret a value. Tools read `1`, `"True"` and `"yes"` as true, `"5.0"` and `" 5 "` as 5, and the text of a
 * JSON document as the document. A rule that restricts has to consider these readings.
 */

/** Whether a tool may read this value as the wanted one. In doubt, it may. */
export function mayBeTakenFor(value: JsonPrimitive, wanted: JsonPrimitive): boolean {
  if (value === wanted) return true;
  if (typeof wanted === 'boolean') return wanted ? mayBeTrue(value) : mayBeFalse(value);
  if (typeof value === 'boolean') return saysSo(wanted, value);
  if (typeof wanted === 'number') return mayBeNumber(value, wanted);
  if (typeof value === 'number') return mayBeNumber(wanted, value);
  if (wanted === null || value === null) return isNothing(wanted) && isNothing(value);
  if (fold(value) === fold(wanted)) return true;
  const number = numberIn(wanted);
  return number !== undefined && mayBeNumber(value, number);
}

/** Whether a tool may read one key as the other: with another case, width or separator. */
export function isSameKey(key: string, other: string): boolean {
  // A key this much longer has other words, and folding it costs time.
  if (key.length > MAX_KEY_GROWTH * other.length + MAX_KEY_GROWTH) return false;
  return lettersOf(key) === lettersOf(other);
}

/** Removes punctuation and accents, which some tools drop: `--force`, `force[]`. A key of punctuation alone is kept. */
function lettersOf(key: string): string {
  // Nearly every key, in a tenth of the time: a call may have millions.
  if (/^[A-Za-z0-9]*$/.test(key)) return key.toLowerCase();
  const folded = fold(key);
  return folded.normalize('NFKD').replace(/[^\p{L}\p{N}]/gu, '') || folded;
}

const MAX_KEY_GROWTH = 3;

/**
 * The values in the text of a JSON document, including keys, and those in strings inside it; empty if the text is not a
 * document. `undefined` if it is nested too deep to be read.
 */
export function valuesInJson(text: string, depth = 0): readonly JsonPrimitive[] | undefined {
  const document = text.trim();
  if (!/^["[{]/.test(document)) return [];
  if (depth >= MAX_DEPTH) return undefined;
  const values: JsonPrimitive[] = [];
  let isTooDeep = false;
  const note = (value: JsonPrimitive): void => {
    values.push(value);
    const inside = typeof value === 'string' ? valuesInJson(value, depth + 1) : [];
    if (inside === undefined) isTooDeep = true;
    else for (const each of inside) values.push(each);
  };
  try {
    JSON.parse(document, (key, value: JsonValue) => {
      if (key !== '') note(key);
      if (typeof value !== 'object' || value === null) note(value);
      return value;
    });
  } catch (error) {
    return error instanceof SyntaxError ? [] : undefined;
  }
  return isTooDeep ? undefined : values;
}

/** Nesting of documents in strings of documents. */
const MAX_DEPTH = 4;

/** Any number but 0, and any text that does not mean no. */
function mayBeTrue(value: JsonPrimitive): boolean {
  if (typeof value === 'string') return !NO.has(fold(value)) && numberIn(value) !== 0;
  return value !== null && value !== 0 && value !== false;
}

/** Whether a text or number in a rule means this boolean. */
function saysSo(wanted: JsonPrimitive, truth: boolean): boolean {
  if (typeof wanted === 'string') return (truth ? YES : NO).has(fold(wanted)) || numberIn(wanted) === Number(truth);
  return wanted === null ? !truth : Number(wanted) === Number(truth);
}

/** Empty values, 0, and any text that does not mean yes. */
function mayBeFalse(value: JsonPrimitive): boolean {
  if (typeof value === 'string') return !YES.has(fold(value)) && (numberIn(value) ?? 0) === 0;
  return value === null || value === 0 || value === false;
}

/** The number in another form, or with text around it: `5 USD`, `$5`. */
function mayBeNumber(value: JsonPrimitive, wanted: number): boolean {
  if (value === null) return wanted === 0;
  if (typeof value !== 'string') return Number(value) === wanted;
  const whole = numberIn(value);
  if (whole !== undefined) return whole === wanted;
  const parts = fold(value)
    .slice(0, MAX_NUMBER_CHARACTERS)
    .replace(/(?<=\d)[,_' ](?=\d{3})/g, '')
    .match(/-?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?/g);
  return parts?.some((part) => Number(part) === wanted) ?? false;
}

/** The number that a text stands for, in any notation; `undefined` if it is not a number. */
function numberIn(text: string): number | undefined {
  const written = fold(text.slice(0, MAX_NUMBER_CHARACTERS + 1));
  if (written === '' || written.length > MAX_NUMBER_CHARACTERS) return undefined;
  const number = Number(written.replace(/(?<=\d)[,_' ](?=\d{3}(?!\d))/g, '').replace(/^\+/, ''));
  return Number.isNaN(number) ? undefined : number;
}

function isNothing(value: JsonPrimitive): boolean {
  return value === null || (typeof value === 'string' && NOTHING.has(fold(value)));
}

/** Trims and folds: ignores case, width and invisible characters. */
function fold(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[\p{Cf}\p{Cc}]/gu, (character) => (/\s/.test(character) ? ' ' : ''))
    .trim()
    .toLowerCase();
}

const MAX_NUMBER_CHARACTERS = 100;
const NOTHING = new Set(['', 'null', 'none', 'nil', 'undefined']);
const NO = new Set([...NOTHING, 'false', 'f', 'no', 'n', 'off', 'never', 'disabled']);
const YES = new Set(['true', 't', 'yes', 'y', 'on', 'always', 'enabled']);
