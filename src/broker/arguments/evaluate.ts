import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { Constraints } from '../../domain/json-schema/constraints.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { addEvaluatedItems, addEvaluatedNames } from './evaluated.js';
import { type LimitKeyword, type Place, type Problem, TOP } from './problem.js';
import {
  type AllowedValues,
  ANYTHING,
  type ArrayRule,
  canonicalText,
  comparedText,
  isAllowed,
  NOTHING,
  type ObjectRule,
  type Rule,
  type TypeName,
  typeOf,
  UNCOMPARED,
} from './rule.js';

/** Bounds on the cost of checking one value. */
export const EVALUATION_BOUNDS = {
  /**
   * Rules applied, plus a part of the characters, keys and items that are looked at for a rule. A list of 10,000 objects with ten
   * properties takes 140,000. A schema whose references double at every step would never finish, and one with 200 forms would go
   * through an object of 100,000 keys 200 times.
   */
  steps: 200_000,
  /** Nesting of rules. Most schemas that reach this refer to themselves without consuming any of the value. */
  depth: 256,
  /** The first few problems are enough for a list of a million wrong items. */
  problems: 32,
} as const;

/**
 * Finds what is wrong with a value. Beyond a bound the rest is accepted: this check helps the program's author, and the tool's
 * own server checks the value again.
 */
export function findProblems(root: Rule, value: JsonValue): readonly Problem[] {
  const problems: Problem[] = [];
  new Evaluation().check(root, value, TOP, 0, problems);
  return problems;
}

/** Checks one value. */
export class Evaluation {
  #steps: number = EVALUATION_BOUNDS.steps;
  /** Whether a part was not checked. From then on it is not certain what fits. */
  #isUnsure = false;

  /** Adds what is wrong with `value` to `problems`. */
  check(rule: Rule, value: JsonValue, place: Place, depth: number, problems: Problem[]): void {
    if (rule === ANYTHING || (rule.isNullable === true && value === null) || this.#isFull(problems)) return;
    if (!this.#spend(1) || depth > EVALUATION_BOUNDS.depth) {
      this.#isUnsure = true;
      return;
    }
    if (rule.isNever === true) {
      problems.push({ place, value, rule, fault: { kind: 'never' } });
      return;
    }
    if (rule.types !== undefined && !rule.types.some((type) => isOfType(type, value))) {
      problems.push({ place, value, rule, fault: { kind: 'type' } });
      return;
    }
    if (rule.values !== undefined && !this.#isAllowed(rule.values, value)) {
      problems.push({ place, value, rule, fault: { kind: 'values', values: rule.values } });
      return;
    }
    if (typeof value === 'string') {
      if (rule.limits !== undefined) this.#string(rule, rule.limits, value, place, problems);
    } else if (typeof value === 'number') {
      if (rule.limits !== undefined) checkNumber(rule, rule.limits, value, place, problems);
    } else if (Array.isArray(value)) {
      if (rule.limits !== undefined) checkCount(rule, ['minItems', 'maxItems'], value.length, value, place, problems);
      if (rule.array !== undefined) this.#array(rule, rule.array, value, place, depth, problems);
      if (rule.limits?.uniqueItems === true) this.#unique(rule, value, place, problems);
    } else if (isJsonObject(value)) {
      if (rule.limits?.minProperties !== undefined || rule.limits?.maxProperties !== undefined) {
        const { length } = Object.keys(value);
        if (this.#spend(length >> 2))
          checkCount(rule, ['minProperties', 'maxProperties'], length, value, place, problems);
      }
      if (rule.object !== undefined) this.#object(rule, rule.object, value, place, depth, problems);
    }
    this.#combinators(rule, value, place, depth, problems);
    if (problems.length === 0) this.#unevaluated(rule, value, place, depth, problems);
  }

  /** Whether a value fits. Beyond the bounds every value does. */
  fits(rule: Rule, value: JsonValue, place: Place, depth: number): boolean {
    const problems: Problem[] = [];
    this.check(rule, value, place, depth, problems);
    return problems.length === 0 || this.#isUnsure;
  }

  #spend(steps: number): boolean {
    this.#steps -= steps;
    if (this.#isSpent) this.#isUnsure = true;
    return !this.#isSpent;
  }

  get #isSpent(): boolean {
    return this.#steps < 0;
  }

  #isFull(problems: readonly Problem[]): boolean {
    return problems.length >= EVALUATION_BOUNDS.problems;
  }

  #isAllowed(all: readonly AllowedValues[], value: JsonValue): boolean {
    if (typeof value !== 'object' || value === null) return all.every((values) => isAllowed(values, value));
    return all.every((values) => {
      if (values.composite.size === 0) return false;
      if (!Array.isArray(value) && !this.#spend(Object.keys(value).length >> 2)) return true;
      const text = comparedText(values, value);
      return !this.#spend((text?.length ?? values.longest) >> 4) || (text !== undefined && values.composite.has(text));
    });
  }

  #combinators(rule: Rule, value: JsonValue, place: Place, depth: number, problems: Problem[]): void {
    if (rule.all !== undefined) for (const part of rule.all) this.check(part, value, place, depth + 1, problems);
    if (rule.anyOf !== undefined) this.#forms(rule, rule.anyOf, false, value, place, depth, problems);
    if (rule.oneOf !== undefined) this.#forms(rule, rule.oneOf, true, value, place, depth, problems);
    if (rule.not !== undefined && this.fits(rule.not, value, place, depth + 1) && !this.#isUnsure) {
      problems.push({ place, value, rule, fault: { kind: 'not' } });
    }
    if (rule.condition !== undefined) {
      const isMet = this.fits(rule.condition.if, value, place, depth + 1);
      if (!this.#isUnsure)
        this.check(isMet ? rule.condition.then : rule.condition.else, value, place, depth + 1, problems);
    }
  }

  #forms(
    rule: Rule,
    forms: readonly Rule[],
    isExclusive: boolean,
    value: JsonValue,
    place: Place,
    depth: number,
    problems: Problem[],
  ): void {
    const failures: Problem[][] = [];
    let matches = 0;
    for (const form of forms) {
      const failure: Problem[] = [];
      this.check(form, value, place, depth + 1, failure);
      failures.push(failure);
      if (failure.length > 0) continue;
      matches += 1;
      if (!isExclusive || matches > 1) break;
    }
    if (this.#isUnsure || matches === 1 || (matches > 0 && !isExclusive)) return;
    problems.push({ place, value, rule, fault: { kind: 'forms', forms, failures, matches } });
  }

  #object(rule: Rule, object: ObjectRule, value: JsonObject, place: Place, depth: number, problems: Problem[]): void {
    const missing = (name: string, because?: string): void => {
      if (Object.hasOwn(value, name) || this.#isFull(problems)) return;
      const fault = { kind: 'missing', name, holder: value, ...omitUndefined({ because }) } as const;
      problems.push({ place: { parent: place, token: name, rule }, value: undefined, rule, fault });
    };
    const names = Object.keys(value);
    const declared = object.required.length + object.dependentRequired.length + object.dependentRules.length;
    if (!this.#spend((names.length + declared) >> 2)) return;
    for (const name of object.required) missing(name);
    for (const [key, needed] of object.dependentRequired) {
      if (!Object.hasOwn(value, key) || !this.#spend(needed.length >> 3)) continue;
      for (const name of needed) missing(name, key);
    }
    for (const [key, dependent] of object.dependentRules) {
      if (Object.hasOwn(value, key)) this.check(dependent, value, place, depth + 1, problems);
    }
    for (const name of names) {
      if (this.#isFull(problems) || this.#isSpent) return;
      const at: Place = { parent: place, token: name, rule };
      const member = value[name] as JsonValue;
      if (object.names !== undefined) this.#name(rule, object.names, name, at, depth, problems);
      const property = object.properties.get(name);
      if (property !== undefined) this.check(property, member, at, depth + 1, problems);
      let isKnown = property !== undefined;
      for (const { pattern, rule: patternRule } of object.patterns) {
        if (!this.#spend(1 + (name.length >> 3)) || !pattern.test(name)) continue;
        isKnown = true;
        this.check(patternRule, member, at, depth + 1, problems);
      }
      if (isKnown || object.additional === undefined) continue;
      this.#other(rule, object.additional, name, member, at, depth, problems);
    }
  }

  #name(rule: Rule, names: Rule, name: string, at: Place, depth: number, problems: Problem[]): void {
    const wrong: Problem[] = [];
    this.check(names, name, at, depth + 1, wrong);
    if (wrong.length > 0)
      problems.push({ place: at, value: name, rule, fault: { kind: 'name', name, problems: wrong } });
  }

  #other(
    rule: Rule,
    other: Rule,
    name: string,
    member: JsonValue,
    at: Place,
    depth: number,
    problems: Problem[],
  ): void {
    if (other === NOTHING) problems.push({ place: at, value: member, rule, fault: { kind: 'unknown', name } });
    else this.check(other, member, at, depth + 1, problems);
  }

  #array(
    rule: Rule,
    array: ArrayRule,
    values: readonly JsonValue[],
    place: Place,
    depth: number,
    problems: Problem[],
  ): void {
    const whole = values as JsonValue[];
    if (array.leading.length > 0 || array.items !== undefined) {
      for (const [index, item] of values.entries()) {
        const itemRule = array.leading[index] ?? array.items;
        if (itemRule === undefined || this.#isFull(problems) || this.#isSpent) break;
        this.check(itemRule, item, { parent: place, token: index, rule }, depth + 1, problems);
      }
    }
    if (array.contains !== undefined) {
      const { rule: wanted, minimum, maximum } = array.contains;
      const isWanted = (item: JsonValue) => this.fits(wanted, item, place, depth + 1);
      const actual = values.filter(isWanted).length;
      if (this.#isUnsure) return;
      const keyword = actual < minimum ? 'minContains' : 'maxContains';
      const limit = actual < minimum ? minimum : maximum;
      if (actual < minimum || actual > maximum)
        problems.push({ place, value: whole, rule, fault: { kind: 'limit', keyword, limit, actual } });
    }
  }

  #unique(rule: Rule, values: readonly JsonValue[], place: Place, problems: Problem[]): void {
    const seen = new Map<string, number>();
    for (const [index, item] of values.entries()) {
      const text = canonicalText(item, (this.#steps + 1) << 3);
      if (!this.#spend(text === undefined ? this.#steps + 1 : 1 + (text.length >> 3)) || this.#isFull(problems)) return;
      if (text === undefined || text.includes(UNCOMPARED)) continue; // too deep to compare
      const first = seen.get(text);
      if (first === undefined) seen.set(text, index);
      else
        problems.push({
          place: { parent: place, token: index, rule },
          value: item,
          rule,
          fault: { kind: 'repeated', first },
        });
    }
  }

  #string(rule: Rule, limits: Constraints, value: string, place: Place, problems: Problem[]): void {
    if (limits.minLength !== undefined || limits.maxLength !== undefined) {
      const actual = this.#spend(value.length >> 4) ? characterCount(value, limits) : undefined;
      if (actual !== undefined) checkCount(rule, ['minLength', 'maxLength'], actual, value, place, problems);
    }
    const { pattern } = rule;
    if (pattern === undefined || !this.#spend(1 + (value.length >> 2)) || pattern.test(value)) return;
    problems.push({ place, value, rule, fault: { kind: 'pattern', source: pattern.source } });
  }

  /** Checked last, and only in values without problems so far: what counts as evaluated depends on what fits. */
  #unevaluated(rule: Rule, value: JsonValue, place: Place, depth: number, problems: Problem[]): void {
    const { object, array } = rule;
    if ((object?.unevaluated ?? array?.unevaluated) === undefined || this.#isUnsure) return;
    const fits = (part: Rule) => this.fits(part, value, place, depth + 1);
    const spend = (steps: number) => this.#spend(steps);
    if (object?.unevaluated !== undefined && isJsonObject(value)) {
      const known = new Set<string>();
      addEvaluatedNames(rule, value, { fits, spend }, known);
      for (const [name, member] of Object.entries(value)) {
        if (this.#isSpent || this.#isFull(problems)) break;
        if (known.has(name)) continue;
        this.#other(rule, object.unevaluated, name, member, { parent: place, token: name, rule }, depth, problems);
      }
    }
    if (array?.unevaluated !== undefined && Array.isArray(value)) {
      const known = new Set<number>();
      const contains = (part: Rule, index: number) => this.fits(part, value[index] as JsonValue, place, depth + 1);
      addEvaluatedItems(rule, value, { fits, spend, contains }, known);
      for (const [index, item] of value.entries()) {
        if (this.#isSpent || this.#isFull(problems)) break;
        if (known.has(index)) continue;
        this.check(array.unevaluated, item, { parent: place, token: index, rule }, depth + 1, problems);
      }
    }
  }
}

function isOfType(type: TypeName, value: JsonValue): boolean {
  return type === 'integer' ? Number.isInteger(value) : typeOf(value) === type;
}

function checkNumber(rule: Rule, limits: Constraints, value: number, place: Place, problems: Problem[]): void {
  const fail = (keyword: LimitKeyword, limit: number): void => {
    problems.push({ place, value, rule, fault: { kind: 'limit', keyword, limit, actual: value } });
  };
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = limits;
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) fail('exclusiveMinimum', exclusiveMinimum);
  else if (minimum !== undefined && value < minimum) fail('minimum', minimum);
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) fail('exclusiveMaximum', exclusiveMaximum);
  else if (maximum !== undefined && value > maximum) fail('maximum', maximum);
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) fail('multipleOf', multipleOf);
}

/** 0.3 is a multiple of 0.1, although the quotient is not an integer in binary. */
function isMultiple(value: number, divisor: number): boolean {
  const quotient = value / divisor;
  return (
    !Number.isFinite(quotient) || Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.max(1, Math.abs(quotient))
  );
}

type CountKeyword = Extract<LimitKeyword, `${string}${'Length' | 'Items' | 'Properties'}`>;

function checkCount(
  rule: Rule,
  [least, most]: readonly [CountKeyword, CountKeyword],
  actual: number,
  value: JsonValue,
  place: Place,
  problems: Problem[],
): void {
  const minimum = rule.limits?.[least];
  const maximum = rule.limits?.[most];
  if (minimum !== undefined && actual < minimum)
    problems.push({ place, value, rule, fault: { kind: 'limit', keyword: least, limit: minimum, actual } });
  if (maximum !== undefined && actual > maximum)
    problems.push({ place, value, rule, fault: { kind: 'limit', keyword: most, limit: maximum, actual } });
}

/** Characters are code points. They are counted only if the number of UTF-16 units does not decide the limits. */
function characterCount(value: string, { minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Constraints): number {
  if (value.length <= maxLength && value.length >= minLength * 2) return value.length;
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}
