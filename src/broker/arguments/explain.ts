import type { JsonValue } from '../../domain/json.js';
import { nearest } from '../../lib/text/nearest.js';
import { clipText, quoteVisibly } from '../../lib/text/visible-text.js';
import { adviseOnType } from './advice.js';
import { describeForms, describeReceived, describeRule, describeValues, listNames } from './describe-rule.js';
import type { LimitKeyword, Problem } from './problem.js';
import { type AllowedValues, isAllowed, type Rule } from './rule.js';

/** The explanation of a problem. */
export interface Explanation {
  readonly expected: string;
  readonly received: string;
  /** The one thing to do. */
  readonly advice: string;
}

/** What was expected, what was received, and what to do about it. */
export function explain(problem: Problem): Explanation {
  const { fault, rule, value } = problem;
  const received = describeReceived(value);
  switch (fault.kind) {
    case 'type':
      return { expected: describeRule(rule), received, advice: adviseOnType(problem, describeRule(rule)) };
    case 'never':
      return { expected: 'nothing', received, advice: 'Leave it out: no value is allowed there.' };
    case 'values':
      return { expected: describeValues(fault.values), received, advice: adviseOnValue(fault.values, value) };
    case 'missing':
      return explainMissing(fault, rule);
    case 'unknown':
      return explainUnknown(fault.name, rule, value);
    case 'name': {
      const [inner] = fault.problems;
      const expected = inner === undefined ? 'another name' : explain(inner).expected;
      return { expected: `a property name: ${expected}`, received: named(fault.name), advice: 'Rename this property.' };
    }
    case 'limit':
      return explainLimit(fault.keyword, fault.limit, fault.actual, value);
    case 'pattern': {
      const expected = `string that matches /${clipText(quoteVisibly(fault.source).slice(1, -1), 120)}/`;
      return { expected, received, advice: `Pass a ${expected}.` };
    }
    case 'repeated':
      return {
        expected: 'array without repeated items',
        received: `${received}, which is item ${fault.first} again`,
        advice: 'Remove the repeated item.',
      };
    case 'not':
      return { expected: 'a value that the schema does not exclude', received, advice: 'Pass another value.' };
    case 'forms': {
      const expected = describeForms(fault.forms);
      if (fault.matches > 1) {
        return {
          expected: `exactly one of ${fault.forms.length} forms`,
          received: `${received}, which matches more than one of them`,
          advice: 'Leave out what belongs to the other form.',
        };
      }
      return { expected, received, advice: adviseOnType(problem, expected) };
    }
  }
}

function explainMissing(fault: Extract<Problem['fault'], { kind: 'missing' }>, rule: Rule): Explanation {
  const wanted = rule.object?.properties.get(fault.name);
  const type = wanted === undefined ? 'a value' : describeRule(wanted);
  const because = fault.because === undefined ? '' : `, because ${named(fault.because)} is given`;
  const declared = rule.object?.properties;
  const strangers = Object.keys(fault.holder).filter((name) => declared?.has(name) !== true);
  const [misspelt] = nearest(fault.name, strangers, 1);
  if (misspelt !== undefined) {
    return {
      expected: `required property ${named(fault.name)}: ${type}${because}`,
      received: `${named(misspelt)} instead`,
      advice: `Rename ${named(misspelt)} to ${named(fault.name)}.`,
    };
  }
  return {
    expected: `required property ${named(fault.name)}: ${type}${because}`,
    received: 'nothing',
    advice: `Add ${named(fault.name)}: ${type}.`,
  };
}

function explainUnknown(name: string, rule: Rule, value: JsonValue | undefined): Explanation {
  const names = [...(rule.object?.properties.keys() ?? [])];
  const patterns = (rule.object?.patterns ?? []).map(
    ({ pattern }) => `names that match ${quoteVisibly(clipText(pattern.source, 60))}`,
  );
  const meant = nearest(name, names, 1)[0] ?? nameForValue(value, rule);
  const allowed = [...(names.length === 0 ? [] : [`the properties ${listNames(names)}`]), ...patterns.slice(0, 3)];
  return {
    expected: allowed.length === 0 ? 'no properties' : `only ${allowed.join(' and ')}`,
    received: `unknown property ${named(name)}`,
    advice: meant === undefined ? `Remove ${named(name)}.` : `Rename ${named(name)} to ${named(meant)}.`,
  };
}

/** The one property that takes this word: `operation: "list"` where `mode` is "list" or "create". */
function nameForValue(value: JsonValue | undefined, rule: Rule): string | undefined {
  if (typeof value !== 'string') return undefined;
  const takes = ({ values = [] }: Rule) => values.length > 0 && values.every((each) => isAllowed(each, value));
  const [only, ...others] = [...(rule.object?.properties ?? [])].filter(([, each]) => takes(each));
  return others.length === 0 ? only?.[0] : undefined;
}

function adviseOnValue(values: readonly AllowedValues[], value: JsonValue | undefined): string {
  const texts = values.flatMap(({ list }) => list).filter((item): item is string => typeof item === 'string');
  const [meant] = typeof value === 'string' ? nearest(value, texts, 1) : [];
  return meant === undefined ? `Use ${describeValues(values)}.` : `Use ${named(meant)}.`;
}

function explainLimit(keyword: LimitKeyword, limit: number, actual: number, value: JsonValue | undefined): Explanation {
  const [expected, unit, change] = LIMITS[keyword](limit);
  const received = unit === '' ? describeReceived(value) : `${counted(actual, unit)}`;
  return { expected, received, advice: change };
}

const LIMITS: Readonly<
  Record<LimitKeyword, (limit: number) => readonly [expected: string, unit: string, advice: string]>
> = {
  minimum: (limit) => [`number >= ${limit}`, '', `Use a number of at least ${limit}.`],
  maximum: (limit) => [`number <= ${limit}`, '', `Use a number of at most ${limit}.`],
  exclusiveMinimum: (limit) => [`number > ${limit}`, '', `Use a number greater than ${limit}.`],
  exclusiveMaximum: (limit) => [`number < ${limit}`, '', `Use a number less than ${limit}.`],
  multipleOf: (limit) => [`multiple of ${limit}`, '', `Use a multiple of ${limit}.`],
  minLength: (limit) => [`string of at least ${counted(limit, 'character')}`, 'character', 'Pass a longer string.'],
  maxLength: (limit) => [`string of at most ${counted(limit, 'character')}`, 'character', 'Shorten the string.'],
  minItems: (limit) => [`array of at least ${counted(limit, 'item')}`, 'item', 'Pass more items.'],
  maxItems: (limit) => [
    `array of at most ${counted(limit, 'item')}`,
    'item',
    'Pass fewer items, in several calls if need be.',
  ],
  minContains: (limit) => [
    `array with at least ${counted(limit, 'item')} of the required form`,
    'matching item',
    'Add an item of the required form.',
  ],
  maxContains: (limit) => [
    `array with at most ${counted(limit, 'item')} of a certain form`,
    'matching item',
    'Remove items of that form.',
  ],
  minProperties: (limit) => [
    `object with at least ${counted(limit, 'property', 'properties')}`,
    'property',
    'Add a property.',
  ],
  maxProperties: (limit) => [
    `object with at most ${counted(limit, 'property', 'properties')}`,
    'property',
    'Remove properties.',
  ],
};

function counted(count: number, unit: string, plural = unit === 'property' ? 'properties' : `${unit}s`): string {
  return `${count} ${count === 1 ? unit : plural}`;
}

function named(name: string): string {
  return clipText(quoteVisibly(name), 60);
}
