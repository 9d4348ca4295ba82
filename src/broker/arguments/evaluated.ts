import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { Rule } from './rule.js';

interface Check {
  /** Whether the value fits a part of the rule. A part that does not fit evaluates nothing. */
  fits(part: Rule): boolean;
  /** False if nothing more is looked at: then it is not certain what is evaluated. */
  spend(steps: number): boolean;
}
interface ItemCheck extends Check {
  contains(part: Rule, index: number): boolean;
}

/**
 * Adds the names that a rule, or a fitting part of it, evaluates: all but its `unevaluatedProperties`. Every part is checked
 * once, even if references to it repeat or form cycles.
 */
export function addEvaluatedNames(
  rule: Rule,
  value: JsonObject,
  check: Check,
  known: Set<string>,
  visited = new Set<Rule>(),
): void {
  // Before the names are listed, which takes long for a large object.
  if (visited.has(rule) || !check.spend(1)) return;
  visited.add(rule);
  const { object } = rule;
  if (object !== undefined) {
    const names = Object.keys(value);
    if (!check.spend(names.length >> 2)) return;
    const isMatch = (name: string) =>
      object.patterns.some(({ pattern }) => check.spend(1 + (name.length >> 3)) && pattern.test(name));
    for (const name of names)
      if (object.properties.has(name) || object.additional !== undefined || isMatch(name)) known.add(name);
  }
  const dependent = (object?.dependentRules ?? []).filter(([key]) => Object.hasOwn(value, key)).map(([, part]) => part);
  for (const part of [...fittingParts(rule, check), ...dependent]) {
    if (part.object?.unevaluated !== undefined) for (const name of Object.keys(value)) known.add(name);
    else addEvaluatedNames(part, value, check, known, visited);
  }
}

/** The same for the items of an array. */
export function addEvaluatedItems(
  rule: Rule,
  values: readonly JsonValue[],
  check: ItemCheck,
  known: Set<number>,
  visited = new Set<Rule>(),
): void {
  if (visited.has(rule) || !check.spend(1)) return;
  visited.add(rule);
  const { array } = rule;
  if (array !== undefined) {
    if (!check.spend(values.length >> 3)) return;
    for (const index of values.keys()) {
      if (index < array.leading.length || array.items !== undefined) known.add(index);
      else if (array.contains !== undefined && check.contains(array.contains.rule, index)) known.add(index);
    }
  }
  for (const part of fittingParts(rule, check)) {
    if (part.array?.unevaluated !== undefined) for (const index of values.keys()) known.add(index);
    else addEvaluatedItems(part, values, check, known, visited);
  }
}

/** The parts of a rule that apply to the whole value. */
function fittingParts(rule: Rule, { fits }: Check): readonly Rule[] {
  const parts = [...(rule.all ?? []), ...[...(rule.anyOf ?? []), ...(rule.oneOf ?? [])].filter(fits)];
  if (rule.condition !== undefined) {
    const { if: condition, then, else: otherwise } = rule.condition;
    if (fits(condition)) parts.push(condition, then);
    else parts.push(otherwise);
  }
  return parts;
}
