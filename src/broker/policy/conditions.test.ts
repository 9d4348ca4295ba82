import { describe, expect, test } from 'vitest';
import { ruleOf } from '../../../test/support/policy.js';
import type { JsonObject } from '../../domain/json.js';
import type { ArgumentCondition, Decision } from '../../domain/policy.js';
import { decisionOf } from './policy.test-support.js';

describe('conditions on arguments', () => {
  const DEFAULTS = {
    properties: {
      wipe: { default: true },
      options: { default: { mode: 'all' } },
      dryRun: { type: 'boolean' },
      referred: { $ref: '#/$defs/Yes' },
      named: { $ref: '#yes' },
      chosen: { anyOf: [{ type: 'null' }, { oneOf: [{ $ref: '#/$defs/Yes' }] }] },
      endless: { $ref: '#/properties/endless' },
      files: { items: { properties: { wipe: { default: true } } }, prefixItems: [] },
      byPattern: { patternProperties: { '^w': { default: true } } },
      byName: { additionalProperties: { properties: { wipe: { $ref: '#/$defs/Yes' } } } },
    },
    allOf: [{ properties: { all: { default: true } } }, { $ref: '#/$defs/More' }],
    if: {},
    then: { properties: { conditional: { default: true } } },
    $defs: { Yes: { $anchor: 'yes', default: true }, More: { properties: { more: { default: true } } } },
  };
  const fits = (decision: Decision, place: string, condition: ArgumentCondition, input: JsonObject) => {
    const rest: Decision = decision === 'allow' ? 'deny' : 'allow';
    const rules = [ruleOf({ arguments: { [place]: condition }, decision }), ruleOf({ decision: rest })];
    return decisionOf(rules, 'a/b', { arguments: input, inputSchema: DEFAULTS }) === decision;
  };
  const both = (place: string, condition: ArgumentCondition, input: JsonObject) => {
    const [allowing, denying] = [fits('allow', place, condition, input), fits('deny', place, condition, input)];
    expect(allowing).toBe(denying);
    return allowing;
  };

  test('compare, match, weigh and look for values at a place', () => {
    expect(both('branch', { equals: 'main' }, { branch: 'main' })).toBe(true);
    expect(both('branch', { equals: 'main' }, { branch: 'dev' })).toBe(false);
    expect(both('branch', { equals: 'main' }, {})).toBe(false);
    expect(both('n', { oneOf: [1, 2] }, { n: 2 })).toBe(true);
    expect(both('path', { matches: '^/tmp/' }, { path: '/tmp/a' })).toBe(true);
    expect(both('path', { matches: '^/tmp/' }, { path: '/etc' })).toBe(false);
    expect(both('amount', { greaterThan: 10, lessThan: 20 }, { amount: 15 })).toBe(true);
    expect(both('amount', { greaterThan: 10, lessThan: 20 }, { amount: 20 })).toBe(false);
    expect(both('force', { present: true }, { force: false })).toBe(true);
    expect(both('force', { present: false }, { force: false })).toBe(false);
    expect(both('force', { present: false }, {})).toBe(true);
    expect(both('a.b.0', { equals: 1 }, { a: { b: [1] } })).toBe(true);
    expect(both('/a.b/c~1d', { equals: 1 }, { 'a.b': { 'c/d': 1 } })).toBe(true);
    expect(both('constructor', { present: true }, {})).toBe(false);
  });

  test('need one of many values to restrict, and all of them to allow', () => {
    const inside: ArgumentCondition = { matches: '@example\\.com$' };
    const mixed = { to: ['a@example.com', 'b@elsewhere.com'] };
    expect(fits('deny', 'to.*', inside, mixed)).toBe(true);
    expect(fits('allow', 'to.*', inside, mixed)).toBe(false);
    expect(fits('allow', 'to.*', inside, { to: ['a@example.com'] })).toBe(true);
    expect(fits('allow', 'to.*', inside, { to: [] })).toBe(false);
  });

  test.each<[string, string, ArgumentCondition, JsonObject]>([
    ['a list for a text', 'path', { matches: '^/etc' }, { path: ['/etc/passwd'] }],
    ['a number as text', 'amount', { greaterThan: 10 }, { amount: '1000' }],
    ['a truth as text', 'force', { equals: true }, { force: 'true' }],
    ['a number for a truth', 'force', { equals: true }, { force: 1 }],
    ['a truth with another case', 'force', { equals: true }, { force: ' True' }],
    ['another word for a truth', 'force', { equals: true }, { force: 'yes' }],
    ['a word that nobody foresaw for a truth', 'force', { equals: true }, { force: 'enforced' }],
    ['a truth in a JSON text', 'force', { equals: true }, { force: '{"value":true}' }],
    ['0 for a falsehood', 'dryRun', { equals: false }, { dryRun: 0 }],
    ['nothing for a falsehood', 'dryRun', { equals: false }, { dryRun: null }],
    ['"off" for a falsehood', 'dryRun', { equals: false }, { dryRun: 'OFF' }],
    ['another form of a number', 'n', { oneOf: [5, 7] }, { n: '5.0' }],
    ['a number with an exponent', 'n', { equals: 5 }, { n: '+0.5e1' }],
    ['a number with a unit', 'n', { equals: 5000 }, { n: '$5,000 USD' }],
    ['a number in wide digits', 'n', { equals: 5 }, { n: '５' }],
    ['a number for its text', 'n', { equals: '5' }, { n: '05.0' }],
    ['a truth for its text', 'force', { equals: 'yes' }, { force: true }],
    ['a text with another case and blanks', 'branch', { equals: 'main' }, { branch: ' Main\n' }],
    ['a text as JSON', 'branch', { equals: 'main' }, { branch: '"main"' }],
    ['a text in a list as JSON', 'branch', { equals: 'main' }, { branch: '["dev","main"]' }],
    ['a text in JSON in JSON', 'branch', { equals: 'main' }, { branch: JSON.stringify('{"name":"main"}') }],
    ['a path in JSON', 'path', { matches: '^/etc' }, { path: '["/etc/passwd"]' }],
    ['a path behind a blank', 'path', { matches: '^/etc' }, { path: ' /etc/passwd' }],
    [
      'JSON nested too deep to be read',
      'branch',
      { equals: 'main' },
      { branch: '['.repeat(50_000) + ']'.repeat(50_000) },
    ],
    ['a path that leads elsewhere', 'path', { matches: '^/etc/' }, { path: '/tmp/../etc/passwd' }],
    ['a path that begins as it may', 'path', { matches: '^/tmp/' }, { path: '/tmp/../etc/passwd' }],
    [
      'a path with escapes that begins as it may',
      'path',
      { matches: '^/tmp/' },
      { path: '/tmp/%252e%2e%2fetc/passwd' },
    ],
    ['a path with backslashes that begins as it may', 'path', { matches: '^/tmp' }, { path: '/tmp\\..\\etc' }],
    ['a path with empty steps', 'path', { matches: '^/etc/passwd$' }, { path: '//etc/.//passwd/' }],
    ['a path as an address', 'path', { equals: '/etc/passwd' }, { path: 'file:///etc/passwd' }],
    ['a path in another case', 'path', { matches: '(^|/)\\.ssh(/|$)' }, { path: '/home/a/.SSH/id' }],
    ['a path with escapes', 'path', { matches: '(^|/)\\.ssh(/|$)' }, { path: '/home/a/%2essh' }],
    ['a path with a hidden character', 'path', { matches: '^/etc' }, { path: '/e\u200btc/passwd' }],
    ['a path in wide letters', 'path', { matches: '^/etc' }, { path: '/ｅtc/passwd' }],
    ['an address with escapes', 'url', { matches: 'evil\\.example' }, { url: 'https://%65vil.example/' }],
    ['a key in another case', 'force', { equals: true }, { Force: true }],
    ['a key in another spelling', 'dryRun', { equals: false }, { dryRun: true, dry_run: false }],
    ['a key twice', 'amount', { lessThan: 100 }, { amount: 5, Amount: 5_000 }],
    ['a key in the prototype', 'force', { equals: true }, JSON.parse('{"__proto__":{"force":true}}')],
    ['a switch that is not set', 'dryRun', { equals: false }, {}],
    ['a switch that the tool sets by itself', 'wipe', { equals: true }, {}],
    ['a map that the tool fills by itself', 'options.mode', { equals: 'all' }, {}],
    ['a default behind a reference', 'referred', { equals: true }, {}],
    ['a default behind the name of a schema', 'named', { equals: true }, {}],
    ['a default in one of several schemas', 'chosen', { equals: true }, {}],
    ['a default in a part of the schema', 'all', { equals: true }, {}],
    ['a default in a part behind a reference', 'more', { equals: true }, {}],
    ['a default under a condition', 'conditional', { equals: true }, {}],
    ['a default by a pattern of names', 'byPattern.wipe', { equals: true }, { byPattern: {} }],
    ['a default of an item', 'files.*.wipe', { equals: true }, { files: [{ wipe: false }, {}] }],
    ['a default of an item by its number', 'files.1.wipe', { equals: true }, { files: [{ wipe: false }, {}] }],
    ['a default of a further property', 'byName.any.wipe', { equals: true }, { byName: { any: {} } }],
    ['a key with signs around it', 'force', { equals: true }, { '--force': true }],
    ['a key with an accent', 'force', { equals: true }, { 'förce[]': true }],
    ['null where a value must be', 'confirm', { present: true }, { confirm: null }],
    ['null where no value may be', 'confirm', { present: false }, { confirm: null }],
    ['null for a small number', 'limit', { lessThan: 5 }, { limit: null }],
    ['a text for a map', 'target.path', { matches: '^/etc' }, { target: '/etc/passwd' }],
    ['a list for a map', 'target.path', { matches: '^/etc' }, { target: [{ path: '/etc' }] }],
    ['a text too long to look through', 'path', { matches: '^/etc' }, { path: `/tmp${'x'.repeat(200_000)}` }],
    [
      'a document with more texts than there is time for',
      'path',
      { matches: '^/etc' },
      { path: JSON.stringify(Array.from({ length: 20_000 }, () => 'a')) },
    ],
    ['more values than are looked at', 'to.*', { equals: 'x' }, { to: Array.from({ length: 20_000 }, () => 'x') }],
  ])('count against the program where they cannot be told: %s', (_, place, condition, input) => {
    expect(fits('deny', place, condition, input)).toBe(true);
    expect(fits('allow', place, condition, input)).toBe(false);
  });

  test.each<[string, string, ArgumentCondition, JsonObject]>([
    ['no truth', 'force', { equals: true }, { force: 0 }],
    ['a text that says no', 'force', { equals: true }, { force: 'No' }],
    ['another number', 'n', { equals: 5 }, { n: '5.5' }],
    ['a number with more digits', 'n', { equals: 5 }, { n: '50 USD' }],
    ['another text', 'branch', { equals: 'main' }, { branch: 'main2' }],
    ['a truth for another text', 'branch', { equals: 'main' }, { branch: true }],
    ['JSON with other values', 'branch', { equals: 'main' }, { branch: '{"name":"dev"}' }],
    ['a text that only begins like JSON', 'title', { equals: 'main' }, { title: '[main] is broken' }],
    ['a default of another value', 'wipe', { equals: 'other' }, {}],
    ['a value instead of the default', 'wipe', { equals: true }, { wipe: false }],
    ['another path', 'path', { matches: '^/etc' }, { path: '/tmp/./a/../b' }],
    ['another key', 'force', { equals: true }, { enforce: true }],
    ['a key of signs', '$', { equals: true }, { '?': true }],
    ['a reference to itself', 'endless', { equals: true }, {}],
    ['a default where nothing was sent', 'wipe', { present: true }, {}],
    ['a yes where a no is denied', 'dryRun', { equals: false }, { dryRun: 'yes' }],
  ])('do not hold of what is clearly something else: %s', (_, place, condition, input) => {
    expect(both(place, condition, input)).toBe(false);
  });

  test('compare so much text and no more: the rest counts as a match for a rule that restricts', () => {
    const names = (count: number, text: string) => ({ names: Array<string>(count).fill(text) });
    const both = (input: JsonObject) =>
      ['deny', 'allow'].map((decision) => fits(decision as Decision, 'names.*', { oneOf: ['x', 'y'] }, input));
    expect(both(names(300, 'a text '.repeat(1_000)))).toEqual([true, false]);
    expect(both(names(5_000, 'a usual label'))).toEqual([false, false]);
  });

  test('are matched in linear time', () => {
    expect(fits('deny', 'text', { matches: '^(a+)+$' }, { text: `${'a'.repeat(50_000)}!` })).toBe(false);
  });
});
