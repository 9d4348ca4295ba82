import { isJsonObject, type JsonObject, type JsonPrimitive, type JsonValue } from '../../domain/json.js';
import type { ArgumentCondition } from '../../domain/policy.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { Pattern } from '../arguments/rule.js';
import { MAX_TEXT_CHARACTERS } from '../pattern-length.js';
import { isSameKey, mayBeTakenFor, valuesInJson } from './readings.js';
import { defaultsAt } from './schema-defaults.js';
import { looseReadingsOf, readingsOf } from './text-readings.js';

/** A compiled condition on the arguments of a call. */
export interface CompiledCondition {
  /**
   * Whether it holds. A program can pass a list where the rule's author expected a string, or a number as a string. An
   * undecidable value counts as holding for a rule that restricts, and as not holding for a rule that allows. The same goes for
   * `*`: any value is enough to restrict, and all values are needed to allow. If nothing is sent, the tool uses the default of
   * its schema.
   */
  holds(input: JsonObject, isRelaxing: boolean, schema?: JsonObject): boolean;
}

/**
 * `readPattern` of `../arguments/pattern.js`. Passed in only if a rule has patterns: the regular expression engine takes
 * 14 ms to load.
 */
export type ReadPattern = (source: string) => Pattern | undefined;

/** Why a rule cannot be used, for its author. */
export class PolicyProblem extends Error {
  readonly path: readonly (string | number)[];
  constructor(path: readonly (string | number)[], problem: string) {
    super(problem);
    this.path = path;
  }
}

/** Values that one `*` may match. Beyond that the condition is undecidable. */
const MAX_VALUES = 10_000;

/**
 * Budget for the matches of one condition in one call, about 30 ms. A character costs 1, and each match costs this much in
 * addition. Beyond the budget the condition is undecidable. All callers share the event loop.
 */
const MAX_MATCHING = 1_000_000;
const COST_OF_MATCH = 500;
/** The same for `equals` and `oneOf`, which read each text in many ways. Reading 500,000 characters takes about 100 ms. */
const MAX_COMPARING = 1_000_000;
const COST_OF_COMPARISON = 50;
const COST_OF_COMPARED_CHARACTER = 2;
/** Each further value of `oneOf` adds this part of the cost. */
const COST_OF_FURTHER_VALUE = 0.15;

/** Throws `PolicyProblem`. */
export function compileCondition(
  place: string,
  condition: ArgumentCondition,
  readPattern: ReadPattern,
): CompiledCondition {
  const steps = stepsOf(place);
  let matchingLeft = 0;
  let comparingLeft = 0;
  const budget: Budget = {
    mayMatch(text) {
      matchingLeft -= COST_OF_MATCH + text.length;
      return matchingLeft >= 0;
    },
    mayCompare(text, wanted) {
      const cost = COST_OF_COMPARISON + COST_OF_COMPARED_CHARACTER * text.length;
      comparingLeft -= cost * (1 + COST_OF_FURTHER_VALUE * (wanted - 1));
      return comparingLeft >= 0;
    },
  };
  const tests = testsOf(condition, readPattern, budget);
  const isTrueOf = ({ value, isDefault }: FoundValue): Truth => {
    let truth: Truth =
      condition.present === undefined ? YES : presence(isDefault ? undefined : value, condition.present);
    for (const test of tests) truth = Math.min(truth, test(value)) as Truth;
    return truth;
  };
  return {
    holds(input, isRelaxing, schema) {
      matchingLeft = MAX_MATCHING;
      comparingLeft = MAX_COMPARING;
      const found: Found = { values: [], isUnclear: false, isRelaxing, ...omitUndefined({ schema }) };
      collect(input, [], steps, found);
      const { values, isUnclear } = found;
      if (isRelaxing) return !isUnclear && values.length > 0 && values.every((value) => isTrueOf(value) === YES);
      return isUnclear || values.some((value) => isTrueOf(value) !== NO);
    },
  };
}

const NO = 0;
const UNCLEAR = 1;
const YES = 2;
type Truth = typeof NO | typeof UNCLEAR | typeof YES;
/** `undefined` if there is no value at the place. */
type Test = (value: JsonValue | undefined) => Truth;
/** Whether the condition may read one more text. */
interface Budget {
  mayMatch(text: string): boolean;
  mayCompare(text: string, wanted: number): boolean;
}

function testsOf(
  { equals, oneOf, matches, greaterThan, lessThan }: ArgumentCondition,
  readPattern: ReadPattern,
  budget: Budget,
): Test[] {
  const tests: Test[] = [];
  if (equals !== undefined) tests.push((value) => compare(value, [equals], budget));
  if (oneOf !== undefined) tests.push((value) => compare(value, oneOf, budget));
  if (matches !== undefined) tests.push(matchTest(matches, readPattern, budget));
  if (greaterThan !== undefined) tests.push(numberTest((value) => value > greaterThan));
  if (lessThan !== undefined) tests.push(numberTest((value) => value < lessThan));
  return tests;
}

function compare(value: JsonValue | undefined, wanted: readonly JsonPrimitive[], { mayCompare }: Budget): Truth {
  // For most tools, a switch that is not set is off.
  if (value === undefined) return wanted.some((one) => one === false || one === null) ? UNCLEAR : NO;
  if (typeof value === 'object' && value !== null) return UNCLEAR;
  if (wanted.includes(value)) return YES;
  const isText = typeof value === 'string';
  if (isText && (value.length > MAX_TEXT_CHARACTERS || !mayCompare(value, wanted.length))) return UNCLEAR;
  const isTakenForOne = (each: JsonPrimitive) => wanted.some((one) => mayBeTakenFor(each, one));
  if (isTakenForOne(value)) return UNCLEAR;
  if (isText && looseReadingsOf(value).some(isTakenForOne)) return UNCLEAR;
  return isText && holdsOne(value, isTakenForOne) ? UNCLEAR : NO;
}

/** Whether the text is, or may be, a JSON document that contains a matching value. */
function holdsOne(text: string, isOne: (value: JsonPrimitive) => boolean): boolean {
  return valuesInJson(text)?.some(isOne) ?? true;
}

/** Some tools treat `null` as absent, others as a value. */
function presence(value: JsonValue | undefined, wanted: boolean): Truth {
  if (value === null) return UNCLEAR;
  return (value !== undefined) === wanted ? YES : NO;
}

function matchTest(source: string, readPattern: ReadPattern, { mayMatch }: Budget): Test {
  const pattern = readPattern(source);
  if (pattern === undefined) {
    throw new PolicyProblem(
      ['matches'],
      'expected a regular expression without look-around and back-references (they cannot be matched in linear time)',
    );
  }
  return (value) => {
    if (value === undefined || value === null) return NO;
    if (typeof value === 'object') return UNCLEAR;
    const text = String(value);
    if (text.length > MAX_TEXT_CHARACTERS) return UNCLEAR;
    // Beyond the budget, another reading of the text counts as a match, and the text itself does not.
    const isMatch = (each: string) => mayMatch(each) && pattern.test(each);
    const isLikeMatch = (each: string) => !mayMatch(each) || pattern.test(each);
    if (isMatch(text)) return typeof value === 'string' && readingsOf(text).every(isMatch) ? YES : UNCLEAR;
    const isTaken = (each: string) => isLikeMatch(each) || looseReadingsOf(each).some(isLikeMatch);
    return isTaken(text) || holdsOne(text, (each) => each !== null && isTaken(String(each))) ? UNCLEAR : NO;
  };
}

function numberTest(isTrue: (value: number) => boolean): Test {
  return (value) => {
    if (value === undefined) return NO;
    if (value === null) return isTrue(0) ? UNCLEAR : NO;
    if (typeof value !== 'number') return UNCLEAR;
    return isTrue(value) ? YES : NO;
  };
}

interface FoundValue {
  readonly value: JsonValue | undefined;
  /** Not sent: the tool's own default. */
  readonly isDefault?: boolean;
}

interface Found {
  readonly values: FoundValue[];
  readonly isRelaxing: boolean;
  readonly schema?: JsonObject;
  /** The value at the place has another shape than the rule expects, or there are too many values. */
  isUnclear: boolean;
}

/** `path` leads from the arguments to the value. `steps` continue from there. */
function collect(value: JsonValue, path: readonly string[], steps: readonly string[], found: Found): void {
  const [step, ...rest] = steps;
  if (found.values.length >= MAX_VALUES) {
    found.isUnclear = true;
  } else if (step === undefined) {
    found.values.push({ value });
  } else if (step === '*' && typeof value === 'object' && value !== null) {
    for (const child of Object.values(value)) collect(child, [...path, step], rest, found);
  } else if (isJsonObject(value) || (Array.isArray(value) && /^\d+$/.test(step))) {
    // A JavaScript tool that copies its arguments also sees the properties of `__proto__`, unless they are shadowed.
    if (Object.hasOwn(value, '__proto__')) found.isUnclear = true;
    const child = Object.hasOwn(value, step) ? (value as JsonObject)[step] : undefined;
    if (child === undefined || (child === null && rest.length > 0)) absent([...path, step], rest, found);
    else collect(child, [...path, step], rest, found);
    if (isJsonObject(value)) collectAlike(value, [...path, step], rest, found);
  } else {
    found.isUnclear = true;
  }
}

/** Some tools read `Force` and `dry_run` as `force` and `dryRun`: Go's decoder does, and so do aliases. */
function collectAlike(value: JsonObject, path: readonly string[], rest: readonly string[], found: Found): void {
  const step = path.at(-1) as string;
  for (const key of Object.keys(value)) {
    if (key === step || !isSameKey(key, step)) continue;
    if (found.isRelaxing) found.isUnclear = true;
    else collect(value[key] as JsonValue, path, rest, found);
  }
}

function absent(path: readonly string[], rest: readonly string[], found: Found): void {
  found.values.push({ value: undefined });
  const defaults = found.schema === undefined ? [] : defaultsAt(found.schema, path);
  if (defaults === undefined) found.isUnclear = true;
  for (const value of defaults ?? []) {
    const inside: Found = { ...found, values: [], isUnclear: false };
    collect(value, path, rest, inside);
    for (const each of inside.values) found.values.push({ ...each, isDefault: true });
    found.isUnclear ||= inside.isUnclear;
  }
}

/** `files.*.path`, or a JSON Pointer such as `/files/0/a.b` for names with dots. */
function stepsOf(place: string): readonly string[] {
  const steps = place.startsWith('/')
    ? place
        .slice(1)
        .split('/')
        .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    : place.split('.');
  if (steps.includes('')) throw new PolicyProblem([], 'expected the place of an argument such as path or files.*.path');
  return steps;
}
