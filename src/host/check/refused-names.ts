import { compileSchema } from '../../broker/arguments/compile.js';
import { NOTHING, type Rule } from '../../broker/arguments/rule.js';
import type { JsonObject } from '../../domain/json.js';

/** The place of an object in a tool's input: property names, and `EACH` for an element of a list. */
export type InputPlace = readonly (string | typeof EACH)[];
export const EACH = Symbol('element');

/** Rules that refer to themselves are followed this far. */
const MAX_DEPTH = 24;

/**
 * Whether the broker refuses an object with exactly these property names at this place, whatever its values are: a required property is
 * missing, or one is written that a closed schema does not have. In doubt it does not.
 */
export function refusesNames(schema: JsonObject, place: InputPlace, names: ReadonlySet<string>): boolean {
  return refuses(compileSchema(schema).root, place, names, 0);
}

function refuses(rule: Rule, place: InputPlace, names: ReadonlySet<string>, depth: number): boolean {
  if (rule === NOTHING) return true;
  if (depth > MAX_DEPTH) return false;
  const deeper = (each: Rule) => refuses(each, place, names, depth + 1);
  if (rule.all?.some(deeper) === true) return true;
  for (const options of [rule.anyOf, rule.oneOf])
    if (options !== undefined && options.length > 0 && options.every(deeper)) return true;
  const [token, ...rest] = place;
  if (rule.types !== undefined && !rule.types.includes(token === EACH ? 'array' : 'object')) return true;
  if (token === undefined) return refusesHere(rule, names);
  const inner = token === EACH ? elementRule(rule) : rule.object?.properties.get(token);
  return inner !== undefined && refuses(inner, rest, names, depth + 1);
}

/** Elements of a tuple have rules of their own, and the place does not say which element it is. */
function elementRule({ array }: Rule): Rule | undefined {
  return array === undefined || array.leading.length > 0 ? undefined : array.items;
}

function refusesHere({ object }: Rule, names: ReadonlySet<string>): boolean {
  if (object === undefined) return false;
  const { required, additional, properties, patterns } = object;
  if (required.some((name) => !names.has(name))) return true;
  return additional === NOTHING && patterns.length === 0 && [...names].some((name) => !properties.has(name));
}
