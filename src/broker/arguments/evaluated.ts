import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { Rule } from './rule.js';

/** Whether the value fits a part of the rule. A part that does not fit evaluates nothing. */
type Fits = (part: Rule) => boolean;

/**
 * Adds the names that a rule, or a fitting part of it, evaluates: all but its `unevaluatedProperties`. Every part is checked
 * once, even if references to it repeat or form cycles.
 */
export function addEvaluatedNames(
  rule: Rule,
  value: JsonObject,
  fits: Fits,
  known: Set<string>,
  visited = new Set<Rule>(),
): void {
  if (visited.has(rule)) return;
  visited.add(rule);
  const { object } = rule;
  if (object !== undefined) {
    for (const name of Object.keys(value)) {
      if (object.properties.has(name) || object.patterns.some(({ pattern }) => pattern.test(name))) known.add(name);
      else if (object.additional !== undefined) known.add(name);
    }
  }
  const dependent = (object?.dependentRules ?? []).filter(([key]) => Object.hasOwn(value, key)).map(([, part]) => part);
  for (const part of [...fittingParts(rule, fits), ...dependent]) {
    if (part.object?.unevaluated !== undefined) for (const name of Object.keys(value)) known.add(name);
    else addEvaluatedNames(part, value, fits, known, visited);
  }
}

/** The same for the items of an array. */
export function addEvaluatedItems(
  rule: Rule,
  values: readonly JsonValue[],
  fits: Fits,
  contains: (part: Rule, index: number) => boolean,
  known: Set<number>,
  visited = new Set<Rule>(),
): void {
  if (visited.has(rule)) return;
  visited.add(rule);
  const { array } = rule;
  if (array !== undefined) {
    for (const index of values.keys()) {
      if (index < array.leading.length || array.items !== undefined) known.add(index);
      else if (array.contains !== undefined && contains(array.contains.rule, index)) known.add(index);
    }
  }
  for (const part of fittingParts(rule, fits)) {
    if (part.array?.unevaluated !== undefined) for (const index of values.keys()) known.add(index);
    else addEvaluatedItems(part, values, fits, contains, known, visited);
  }
}

/** The parts of a rule that apply to the whole value. */
function fittingParts(rule: Rule, fits: Fits): readonly Rule[] {
  const parts = [...(rule.all ?? []), ...[...(rule.anyOf ?? []), ...(rule.oneOf ?? [])].filter(fits)];
  if (rule.condition !== undefined) {
    const { if: condition, then, else: otherwise } = rule.condition;
    if (fits(condition)) parts.push(condition, then);
    else parts.push(otherwise);
  }
  return parts;
}
