import type { JsonValue } from '../../domain/json.js';
import { clipText, quoteVisibly } from '../../lib/text/visible-text.js';
import { type AllowedValues, NOTHING, type Rule, type TypeName, typeOf } from './rule.js';

/** Limit for a value of the program in an error message. The value may be megabytes. */
export const MAX_VALUE_CHARACTERS = 80;
/** Limit for text from a schema in an error message. */
const MAX_EXPECTED_CHARACTERS = 400;
const MAX_LISTED = 12;
const MAX_DEPTH = 3;

/** A short description of what a rule expects. */
export function describeRule(rule: Rule): string {
  return clipText(describe(rule, 0), MAX_EXPECTED_CHARACTERS);
}

function describe(rule: Rule, depth: number): string {
  if (rule.values !== undefined) return describeValues(rule.values);
  if (rule === NOTHING) return 'nothing';
  const ofType = rule.types?.map((type) => describeType(type, rule, depth)) ?? [];
  if (ofType.length > 0) return orList(rule.isNullable === true ? [...ofType, 'null'] : ofType);
  const forms = rule.anyOf ?? rule.oneOf;
  if (forms !== undefined && depth < MAX_DEPTH) return describeForms(forms, depth);
  const part = rule.all?.[0];
  if (part !== undefined && depth < MAX_DEPTH) return describe(part, depth + 1);
  if (rule.object !== undefined) return 'object';
  return rule.array === undefined ? 'another value' : 'array';
}

export function describeForms(forms: readonly Rule[], depth = 0): string {
  const described = [...new Set(forms.slice(0, MAX_LISTED * 2).map((form) => describe(form, depth + 1)))];
  return orList(described.slice(0, MAX_LISTED));
}

export function describeValues(values: readonly AllowedValues[]): string {
  const list = values.length === 1 ? (values[0]?.list ?? []) : values.flatMap((allowed) => allowed.list);
  const shown = [...new Set(list.slice(0, MAX_LISTED).map(valueText))];
  const more = list.length > MAX_LISTED ? ` and ${list.length - MAX_LISTED} more` : '';
  return list.length === 1 ? (shown[0] ?? '') : `one of ${shown.join(', ')}${more}`;
}

function describeType(type: TypeName, rule: Rule, depth: number): string {
  if (type === 'array' && depth < MAX_DEPTH) {
    const items = rule.array?.items;
    const inner = items === undefined ? '' : describe(items, depth + 1);
    return inner === '' || inner === 'another value' ? 'array' : `array of ${inner}`;
  }
  if (type === 'string' && rule.format !== undefined) return `string (${clipText(quoteless(rule.format), 30)})`;
  if (type === 'object' && depth === 0 && rule.object !== undefined && rule.object.properties.size > 0) {
    return `object with ${listNames([...rule.object.properties.keys()])}`;
  }
  return type;
}

/** `"a", "b" and 3 more`. */
export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).map((name) => clipText(quoteVisibly(name), 60));
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : '';
  return `${shown.join(', ')}${more}`;
}

/** The type of a value, and the value, shortened. */
export function describeReceived(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  const type = typeOf(value);
  if (type === 'boolean' || type === 'number') return `${type} ${String(value)}`;
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : `array ${valueText(value)}`;
  return `${type} ${valueText(value)}`;
}

/** JSON of a value, cut before it is serialized: the value may be as large as a message between processes. */
export function valueText(value: JsonValue): string {
  return clipText(shortJson(value, MAX_VALUE_CHARACTERS), MAX_VALUE_CHARACTERS);
}

/** As much of the JSON as fits into `room`, and a little more. */
function shortJson(value: JsonValue, room: number): string {
  if (typeof value === 'string') return quoteVisibly(value.slice(0, Math.max(0, room)));
  if (typeof value !== 'object' || value === null) return String(value);
  const isList = Array.isArray(value);
  let text = isList ? '[' : '{';
  let isFirst = true;
  for (const key of isList ? value.keys() : Object.keys(value)) {
    if (text.length > room) return text;
    const member = (value as Record<string | number, JsonValue>)[key] as JsonValue;
    const label = isList ? '' : `${quoteVisibly(String(key).slice(0, Math.max(0, room)))}:`;
    text += `${isFirst ? '' : ','}${label}${shortJson(member, room - text.length)}`;
    isFirst = false;
  }
  return `${text}${isList ? ']' : '}'}`;
}

function quoteless(text: string): string {
  return quoteVisibly(text).slice(1, -1);
}

function orList(items: readonly string[]): string {
  const last = items.at(-1) ?? 'another value';
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} or ${last}`;
}
