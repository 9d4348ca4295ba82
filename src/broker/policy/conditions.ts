import { isJsonObject, type JsonObject, type JsonPrimitive, type JsonValue } from '../../domain/json.js';
import type { ArgumentCondition } from '../../domain/policy.js';
import type { Pattern } from '../arguments/rule.js';
import { MAX_TEXT_CHARACTERS } from '../pattern-length.js';
import { mayBeTakenFor, valuesInJson } from './readings.js';

/** One condition on the arguments of a call, ready to be asked. */
export interface CompiledCondition {
  /**
   * Whether it holds. A program can pass a list where the rule's author thought of a text, and a number as a text: what
   * can't be told counts as holding for a rule that restricts, and as not holding for one that allows. So does `*`: any
   * value is enough to restrict, and all of them are needed to allow.
   */
  holds(input: JsonObject, isRelaxing: boolean): boolean;
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

/** Values that one `*` may stand for; in more than these the answer is "can't be told". */
const MAX_VALUES = 10_000;

/** Throws `PolicyProblem`. */
export function compileCondition(
  place: string,
  condition: ArgumentCondition,
  readPattern: ReadPattern,
): CompiledCondition {
  const steps = stepsOf(place);
  const tests = testsOf(condition, readPattern);
  const isTrueOf = (value: JsonValue | undefined): Truth => {
    let truth: Truth = YES;
    for (const test of tests) truth = Math.min(truth, test(value)) as Truth;
    return truth;
  };
  return {
    holds(input, isRelaxing) {
      const found: Found = { values: [], isUnclear: false };
      collect(input, steps, 0, found);
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
/** `undefined` where there is nothing at the place. */
type Test = (value: JsonValue | undefined) => Truth;

function testsOf(
  { equals, oneOf, matches, greaterThan, lessThan, present }: ArgumentCondition,
  readPattern: ReadPattern,
): Test[] {
  const tests: Test[] = [];
  if (equals !== undefined) tests.push((value) => compare(value, [equals]));
  if (oneOf !== undefined) tests.push((value) => compare(value, oneOf));
  if (matches !== undefined) tests.push(matchTest(matches, readPattern));
  if (greaterThan !== undefined) tests.push(numberTest((value) => value > greaterThan));
  if (lessThan !== undefined) tests.push(numberTest((value) => value < lessThan));
  if (present !== undefined) tests.push((value) => presence(value, present));
  return tests;
}

function compare(value: JsonValue | undefined, wanted: readonly JsonPrimitive[]): Truth {
  if (value === undefined) return NO;
  if (typeof value === 'object' && value !== null) return UNCLEAR;
  if (wanted.includes(value)) return YES;
  if (typeof value === 'string' && value.length > MAX_TEXT_CHARACTERS) return UNCLEAR;
  const isTakenForOne = (each: JsonPrimitive) => wanted.some((one) => mayBeTakenFor(each, one));
  if (isTakenForOne(value)) return UNCLEAR;
  return typeof value === 'string' && holdsOne(value, isTakenForOne) ? UNCLEAR : NO;
}

/** Whether the text is a JSON document with such a value in it, or may be. */
function holdsOne(text: string, isOne: (value: JsonPrimitive) => boolean): boolean {
  return valuesInJson(text)?.some(isOne) ?? true;
}

/** Some tools take `null` for nothing, and others for a value. */
function presence(value: JsonValue | undefined, wanted: boolean): Truth {
  if (value === null) return UNCLEAR;
  return (value !== undefined) === wanted ? YES : NO;
}

function matchTest(source: string, readPattern: ReadPattern): Test {
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
    if (pattern.test(text)) return typeof value === 'string' ? YES : UNCLEAR;
    if (pattern.test(text.trim())) return UNCLEAR;
    return holdsOne(text, (each) => each !== null && pattern.test(String(each))) ? UNCLEAR : NO;
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

interface Found {
  readonly values: (JsonValue | undefined)[];
  /** Something else stands there than the place speaks of, or too much. */
  isUnclear: boolean;
}

function collect(value: JsonValue, steps: readonly string[], at: number, found: Found): void {
  const step = steps[at];
  if (found.values.length >= MAX_VALUES) {
    found.isUnclear = true;
  } else if (step === undefined) {
    found.values.push(value);
  } else if (step === '*' && typeof value === 'object' && value !== null) {
    for (const child of Object.values(value)) collect(child, steps, at + 1, found);
  } else if (isJsonObject(value) || (Array.isArray(value) && /^\d+$/.test(step))) {
    const child = Object.hasOwn(value, step) ? (value as JsonObject)[step] : undefined;
    if (child === undefined || (child === null && at + 1 < steps.length)) found.values.push(undefined);
    else collect(child, steps, at + 1, found);
  } else {
    found.isUnclear = true;
  }
}

/** `files.*.path`, or `/files/0/a.b` as a JSON Pointer, where names have dots in them. */
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
