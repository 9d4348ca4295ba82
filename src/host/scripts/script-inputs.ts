import { shapeOfResult } from '../../catalog/observed/shape-of-result.js';
import { schemaOfShape } from '../../catalog/observed/shape-schema.js';
import { HostError } from '../../domain/errors.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import { quoteVisibly } from '../../lib/text/visible-text.js';
import { maskSource } from '../check/mask-source.js';
import { literalsOf, type SourceLiteral } from './source-literals.js';

/** A literal of a program that becomes a property of its input. */
export interface ChosenInput {
  readonly name: string;
  readonly value: string | number;
}

export interface ReplacedLiteral extends ChosenInput {
  readonly lines: readonly number[];
}

export interface SourceWithInputs {
  readonly source: string;
  readonly inputSchema: JsonObject;
  readonly replaced: readonly ReplacedLiteral[];
}

/** What is known about the program besides its source. */
export interface InputContext {
  /** The program is a classic script: `input` is a global. */
  readonly isClassic: boolean;
  /** The input of the recorded run. */
  readonly given: JsonObject;
}

const MAX_INPUTS = 32;
const INPUT_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
/** These names have a special meaning on every object. */
const HARMFUL = new Set(['__proto__', 'constructor', 'prototype', 'toJSON', 'toString', 'valueOf']);

/** Replaces every string or number that equals a chosen value with `input.name`. Throws `bad_input`. */
export function withInputs(
  source: string,
  chosen: readonly ChosenInput[],
  { isClassic, given }: InputContext,
): SourceWithInputs {
  checkNames(chosen, given);
  const properties = new Map(
    [...Object.entries(given), ...chosen.map(({ name, value }) => [name, value] as const)].map(
      ([name, value]): [string, JsonObject] => [name, propertyOf(value)],
    ),
  );
  const inputSchema: JsonObject = {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: [...properties.keys()],
    additionalProperties: false,
  };
  if (chosen.length === 0) return { source, inputSchema, replaced: [] };
  const literals = literalsOf(source);
  if (literals === undefined)
    throw new HostError(
      'bad_input',
      'the values of this program cannot be found in its source; write the script by hand: codemode scripts add NAME FILE',
    );
  const places = chosen.map((input) => ({ ...input, places: literals.filter(({ value }) => value === input.value) }));
  for (const { name, value, places: found } of places) if (found.length === 0) throw notFound(name, value);
  const variable = isClassic ? 'input' : freeName(source);
  const heading = isClassic
    ? ''
    : `import { ${variable === 'input' ? 'input' : `input as ${variable}`} } from '@codemode/input';\n`;
  const edits = places.flatMap(({ name, places: found }) =>
    found.map((place) => ({ place, text: `${variable}.${name}` })),
  );
  return {
    source: `${heading}${applied(source, edits)}`,
    inputSchema,
    replaced: places.map(({ name, value, places: found }) => ({ name, value, lines: found.map(({ line }) => line) })),
  };
}

/** `month=2026-11`, `days=7`, `code="7"`: a quoted value is a string, and a value that is a number in the program is a number. */
export function readChosenInput(text: string, source: string): ChosenInput {
  const sign = text.indexOf('=');
  if (sign < 1) throw new HostError('bad_input', `--input ${text}: expected NAME=VALUE, such as month=2026-11`);
  const name = text.slice(0, sign);
  const written = text.slice(sign + 1);
  if (/^".*"$/s.test(written)) return { name, value: written.slice(1, -1) };
  const values = new Set((literalsOf(source) ?? []).map(({ value }) => value));
  const isNumber = written.trim() !== '' && values.has(Number(written)) && !values.has(written);
  return { name, value: isNumber ? Number(written) : written };
}

function checkNames(chosen: readonly ChosenInput[], given: JsonObject): void {
  if (chosen.length > MAX_INPUTS) throw new HostError('bad_input', `at most ${MAX_INPUTS} values can be inputs`);
  const names = new Set(Object.keys(given));
  const values = new Set<string | number>();
  for (const { name, value } of chosen) {
    if (!INPUT_NAME.test(name) || HARMFUL.has(name))
      throw new HostError(
        'bad_input',
        `${quoteVisibly(name.slice(0, 80))} cannot be the name of an input; use letters, digits and _, beginning with a letter`,
      );
    if (names.has(name)) throw new HostError('bad_input', `there are two inputs ${name}; give each another name`);
    if (values.has(value))
      throw new HostError('bad_input', `${JSON.stringify(value)} cannot be two inputs; give it one name`);
    names.add(name);
    values.add(value);
  }
}

function notFound(name: string, value: string | number): HostError {
  return new HostError(
    'bad_input',
    `${name}: ${JSON.stringify(value).slice(0, 200)} is not in the program as a text or number of its own; take a value that --dry-run proposes`,
  );
}

const MAX_EXAMPLE_CHARACTERS = 200;

/** The schema of a property, with the recorded value as example. */
function propertyOf(value: JsonValue): JsonObject {
  const schema = schemaOfShape(shapeOfResult(value));
  const isShort = typeof value !== 'object' && String(value).length <= MAX_EXAMPLE_CHARACTERS;
  return isShort ? { ...schema, examples: [value] } : schema;
}

/** A name that the program does not already use. */
function freeName(source: string): string {
  const { text } = maskSource(source) ?? { text: source };
  const isFree = (name: string) => !new RegExp(`(?<![\\w$])${name}(?![\\w$])`).test(text);
  return ['input', 'scriptInput', 'givenInput'].find(isFree) ?? 'codemodeScriptInput';
}

function applied(source: string, edits: readonly { readonly place: SourceLiteral; readonly text: string }[]): string {
  let result = source;
  for (const { place, text } of [...edits].sort((left, right) => right.place.from - left.place.from))
    result = result.slice(0, place.from) + text + result.slice(place.to);
  return result;
}
