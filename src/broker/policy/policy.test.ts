import { describe, expect, test } from 'vitest';
import { type GateOptions, openGate, ruleOf } from '../../../test/support/policy.js';
import type { JsonObject } from '../../domain/json.js';
import type { ArgumentCondition, Decision, PolicyRule, PolicySettings } from '../../domain/policy.js';
import type { Tool } from '../../domain/tool.js';
import { readPattern } from '../arguments/pattern.js';
import { policyMistakes } from './mistakes.js';
import { Policy } from './policy.js';

const toolOf = (name: string, annotations?: Tool['annotations']): Tool => {
  const [serverId = '', tool = ''] = name.split('/');
  return { serverId, name: tool, ...(annotations === undefined ? {} : { annotations }) };
};

interface Asked {
  readonly arguments?: JsonObject;
  readonly annotations?: Tool['annotations'];
  readonly inputSchema?: JsonObject;
  readonly caller?: string;
  readonly profile?: string;
  readonly servers?: NonNullable<GateOptions['servers']>;
  readonly preset?: PolicySettings['preset'];
}

function ask(rules: readonly PolicyRule[], name: string, asked: Asked = {}) {
  const { servers = {}, preset = 'open' } = asked;
  const { inputSchema } = asked;
  const tool = { ...toolOf(name, asked.annotations), ...(inputSchema === undefined ? {} : { inputSchema }) };
  return openGate({ rules, servers, preset }).policy.decide({
    tool,
    serverPath: tool.serverId,
    caller: asked.caller ?? 'tester',
    profile: asked.profile ?? 'codemode',
    arguments: asked.arguments ?? {},
  });
}

const decisionOf = (...asked: Parameters<typeof ask>): Decision => ask(...asked).decision;

describe('rules', () => {
  test('are asked in order, and the first that fits decides [B15]', () => {
    const rules = [
      ruleOf({ tools: ['files/read_*'], decision: 'allow' }),
      ruleOf({ tools: ['files/*'], decision: 'ask', reason: 'files are precious' }),
      ruleOf({ tools: ['*/*'], decision: 'deny' }),
    ];
    expect(decisionOf(rules, 'files/read_text')).toBe('allow');
    expect(ask(rules, 'files/write_text')).toEqual({
      decision: 'ask',
      reason: 'files are precious',
      rule: { kind: 'rule', text: 'rule 2', number: 2 },
    });
    expect(decisionOf(rules, 'web/get')).toBe('deny');
  });

  test('that restrict hold for every spelling of a name, and those that allow for one', () => {
    const rules = [
      ruleOf({ tools: ['files/deleteFile'], caller: ['trusted'], decision: 'allow' }),
      ruleOf({ tools: ['files/delete_file', 'files/http_2', 'files/write_*'], decision: 'deny' }),
    ];
    const denied = [
      'delete_file',
      'deleteFile',
      'delete-file',
      'DeleteFile',
      'delete.file',
      'http2',
      'writeAll',
      'write-all',
    ];
    for (const name of denied) expect([name, decisionOf(rules, `files/${name}`)]).toEqual([name, 'deny']);
    for (const name of ['delete_files', 'undelete_file', 'writer', 'rewrite_all'])
      expect([name, decisionOf(rules, `files/${name}`)]).toEqual([name, 'allow']);
    expect(decisionOf(rules, 'other/deleteFile')).toBe('allow');
    expect(decisionOf(rules, 'files/deleteFile', { caller: 'trusted' })).toBe('allow');
    expect(decisionOf(rules, 'files/delete_file', { caller: 'trusted' })).toBe('deny');
  });

  test('can be for one caller, and for one profile [B15]', () => {
    const rules = [ruleOf({ caller: ['session *'], profile: ['runner', 'go'], decision: 'deny' })];
    expect(decisionOf(rules, 'a/b', { caller: 'session 7', profile: 'go' })).toBe('deny');
    expect(decisionOf(rules, 'a/b', { caller: 'session 7' })).toBe('allow');
    expect(decisionOf(rules, 'a/b', { caller: 'stdio', profile: 'go' })).toBe('allow');
  });

  test('of a restricting kind see through other spellings of a name; those that allow do not', () => {
    const restricting = (decision: 'ask' | 'deny') => [ruleOf({ tools: ['files/delete_*'], decision })];
    const allowing = [ruleOf({ tools: ['files/delete_*'], decision: 'allow' }), ruleOf({ decision: 'deny' })];
    for (const name of ['files/Delete_all', 'FILES/delete_all', 'files/ｄelete_all', 'files/dele\u200bte_all']) {
      expect([name, decisionOf(restricting('ask'), name)]).toEqual([name, 'ask']);
      expect([name, decisionOf(restricting('deny'), name)]).toEqual([name, 'deny']);
      expect([name, decisionOf(allowing, name)]).toEqual([name, 'deny']);
    }
    expect(decisionOf(allowing, 'files/delete_all')).toBe('allow');
  });

  test('that allow go by the configured name of a server, not by the name that was made of it', () => {
    const gate = openGate({ rules: [ruleOf({ tools: ['mail/*'], decision: 'allow' })], preset: 'strict' });
    const decide = (serverId: string) =>
      gate.policy.decide({ tool: { serverId, name: 'x' }, serverPath: 'mail', caller: '', profile: '', arguments: {} });
    expect(decide('mail').decision).toBe('allow');
    expect(decide('Mail').decision).toBe('ask');
  });
});

describe('claims of a server about its tools', () => {
  const readers = [ruleOf({ annotations: { readOnlyHint: true }, decision: 'allow' })];

  test('relax nothing unless the server is trusted [B15]', () => {
    const asked: Asked = { annotations: { readOnlyHint: true }, preset: 'strict' };
    expect(decisionOf(readers, 'a/b', asked)).toBe('ask');
    expect(decisionOf(readers, 'a/b', { ...asked, servers: { a: { isTrusted: true } } })).toBe('allow');
  });

  test('do not get a tool out of a rule that restricts', () => {
    const writers = [ruleOf({ annotations: { readOnlyHint: false }, decision: 'ask' })];
    expect(decisionOf(writers, 'a/b')).toBe('ask');
    expect(decisionOf(writers, 'a/b', { annotations: { readOnlyHint: true } })).toBe('ask');
    const trusted = { annotations: { readOnlyHint: true }, servers: { a: { isTrusted: true } } };
    expect(decisionOf(writers, 'a/b', trusted)).toBe('allow');
    const destructive = [ruleOf({ annotations: { destructiveHint: true }, decision: 'deny' })];
    expect(decisionOf(destructive, 'a/b', { annotations: { destructiveHint: true } })).toBe('deny');
    expect(decisionOf(destructive, 'a/b')).toBe('allow');
  });
});

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

  test('are matched in linear time', () => {
    expect(fits('deny', 'text', { matches: '^(a+)+$' }, { text: `${'a'.repeat(50_000)}!` })).toBe(false);
  });
});

describe('presets', () => {
  const CASES: [string, Tool['annotations'], boolean, Record<PolicySettings['preset'], Decision>][] = [
    ['a/list', undefined, false, { default: 'allow', strict: 'ask', open: 'allow' }],
    ['a/list', { readOnlyHint: true }, false, { default: 'allow', strict: 'ask', open: 'allow' }],
    ['a/list', { readOnlyHint: true }, true, { default: 'allow', strict: 'allow', open: 'allow' }],
    ['a/write', { destructiveHint: true }, false, { default: 'ask', strict: 'ask', open: 'allow' }],
    ['a/write', { destructiveHint: true }, true, { default: 'ask', strict: 'ask', open: 'allow' }],
    // A name in letters that are not read here: the claim to only read answers for it, and for nothing else.
    ['a/открыть', {}, false, { default: 'ask', strict: 'ask', open: 'allow' }],
    ['a/открыть', {}, true, { default: 'allow', strict: 'ask', open: 'allow' }],
    ['a/открыть', { readOnlyHint: true }, false, { default: 'allow', strict: 'ask', open: 'allow' }],
    ['a/удалить', { readOnlyHint: true }, false, { default: 'ask', strict: 'ask', open: 'allow' }],
    ['a/delete_it', { readOnlyHint: true }, false, { default: 'ask', strict: 'ask', open: 'allow' }],
    ['a/delete_it', undefined, false, { default: 'ask', strict: 'ask', open: 'allow' }],
    ['a/delete_it', { destructiveHint: false }, false, { default: 'ask', strict: 'ask', open: 'allow' }],
    ['a/delete_it', { destructiveHint: false }, true, { default: 'allow', strict: 'ask', open: 'allow' }],
    [
      'a/run_shell',
      { readOnlyHint: true, destructiveHint: false },
      false,
      { default: 'ask', strict: 'ask', open: 'allow' },
    ],
    ['a/run_shell', undefined, true, { default: 'allow', strict: 'ask', open: 'allow' }],
    ['a/create_issue', undefined, false, { default: 'allow', strict: 'ask', open: 'allow' }],
    ['a/update_issue', undefined, false, { default: 'allow', strict: 'ask', open: 'allow' }],
    ['a/list_deploy', { readOnlyHint: true }, true, { default: 'allow', strict: 'allow', open: 'allow' }],
    ['a/remove_filter', { readOnlyHint: true }, true, { default: 'allow', strict: 'allow', open: 'allow' }],
  ];
  test.each(CASES)('decide after the rules: %s %j, trusted %s [B15]', (name, annotations, isTrusted, expected) => {
    for (const preset of ['default', 'strict', 'open'] as const) {
      const more = annotations === undefined ? {} : { annotations };
      const { decision, rule } = ask([], name, { preset, servers: { a: { isTrusted } }, ...more });
      expect([preset, decision]).toEqual([preset, expected[preset]]);
      expect(rule).toMatchObject({ kind: 'preset', preset, text: expect.stringContaining(`preset ${preset}: `) });
    }
  });
});

describe('what is destructive', () => {
  const DEFAULTS: PolicySettings = { preset: 'default', rules: [], prices: {}, budget: {} };

  test('goes by the name for the flow guard, though the server is trusted', () => {
    const servers = new Map([['a', { isTrusted: true, labels: [] }]]);
    const policy = new Policy({ settings: DEFAULTS, servers });
    expect(policy.destructive(toolOf('a/delete_it'), 'a')).toBe('its name says "delete"');
  });

  test('goes by the name for functions of the embedding program, which are trusted in what they claim', () => {
    const servers = new Map([['a', { isTrusted: true, labels: [], isJudgedByName: true as const }]]);
    const policy = new Policy({ settings: DEFAULTS, servers });
    const asked = { serverPath: 'a', caller: '', profile: '', arguments: {} };
    expect(policy.decide({ tool: toolOf('a/delete_it'), ...asked }).decision).toBe('ask');
    const reading = { ...toolOf('a/delete_it'), annotations: { readOnlyHint: true } };
    expect(policy.decide({ tool: reading, ...asked }).decision).toBe('allow');
  });

  test('goes by the description where the name says nothing', () => {
    const policy = new Policy({ settings: DEFAULTS, servers: new Map() });
    const asked = { serverPath: 'a', caller: '', profile: '', arguments: {} };
    const tool = { ...toolOf('a/query'), description: 'Execute any SQL, including INSERT, UPDATE and DELETE' };
    expect(policy.decide({ tool, ...asked })).toMatchObject({
      decision: 'ask',
      reason: 'its description says that it runs SQL that writes',
    });
  });
});

describe('a policy that cannot be evaluated', () => {
  const broken = ruleOf({ tools: ['*'], arguments: { a: { matches: '(' } }, decision: 'allow' });
  const question = { tool: toolOf('a/b'), serverPath: 'a', caller: '', profile: '', arguments: {} };

  test('denies everything and shows nothing', () => {
    const { policy } = openGate({ preset: 'open', rules: [broken] });
    expect(policy.decide(question)).toMatchObject({ decision: 'deny', rule: { kind: 'broken' } });
    expect(policy.hides(question.tool, 'a', '', '')).toBe(true);
  });

  test('denies what it stumbles over', () => {
    const policy = new Policy({
      settings: { preset: 'open', rules: [], prices: {}, budget: {} },
      servers: new (class extends Map<string, never> {
        override get(): never {
          throw new Error('out of order');
        }
      })(),
    });
    expect(policy.decide(question)).toMatchObject({ decision: 'deny' });
  });
});

test('a tool asks this caller where a rule or the preset asks, for all arguments or for some', () => {
  const conditions = { branch: { equals: 'main' } };
  const asks = (preset: PolicySettings['preset'], ...rules: PolicyRule[]) =>
    openGate({ rules, preset }).policy.asks(toolOf('a/delete_b'), 'a', 'me', 'codemode');
  const allowed = ruleOf({ tools: ['a/*'], decision: 'allow' });
  expect([asks('open'), asks('default'), asks('default', allowed)]).toEqual([false, true, false]);
  expect(asks('open', ruleOf({ arguments: conditions, decision: 'ask' }), allowed)).toBe(true);
  expect(asks('open', allowed, ruleOf({ decision: 'ask' }))).toBe(false);
  expect(asks('open', ruleOf({ caller: ['you'], decision: 'ask' }))).toBe(false);
  expect(asks('default', ruleOf({ decision: 'deny' }))).toBe(false);
});

test('a tool is hidden where no arguments could make its call allowed [A6]', () => {
  const hides = (...rules: PolicyRule[]) => openGate({ rules }).policy.hides(toolOf('a/b'), 'a', 'me', 'codemode');
  const conditions = { x: { equals: 1 } };
  expect(hides()).toBe(false);
  expect(hides(ruleOf({ tools: ['a/*'], decision: 'deny' }))).toBe(true);
  expect(hides(ruleOf({ tools: ['a/*'], caller: ['you'], decision: 'deny' }))).toBe(false);
  expect(hides(ruleOf({ tools: ['a/*'], arguments: conditions, decision: 'deny' }))).toBe(false);
  expect(hides(ruleOf({ arguments: conditions, decision: 'allow' }), ruleOf({ decision: 'deny' }))).toBe(false);
  expect(hides(ruleOf({ arguments: conditions, decision: 'deny' }), ruleOf({ decision: 'deny' }))).toBe(true);
});

test('lists of servers and tools come before every rule [B15]', () => {
  const policy = new Policy({
    settings: { preset: 'open', rules: [ruleOf({ decision: 'allow' })], prices: {}, budget: {} },
    servers: new Map(),
    only: { servers: ['a', 'b'], tools: ['read_*', 'b/write'] },
  });
  const decide = (name: string) =>
    policy.decide({ tool: toolOf(name), serverPath: '', caller: '', profile: '', arguments: {} }).decision;
  expect(['a/read_it', 'b/write', 'a/write', 'c/read_it', 'A/read_it'].map(decide)).toEqual([
    'allow',
    'allow',
    'deny',
    'deny',
    'deny',
  ]);
});

test('examples that come out otherwise and expressions that cannot be read are found, with their place', () => {
  const mistakes = (rules: readonly PolicyRule[], prices = {}) =>
    policyMistakes({
      settings: { preset: 'default', rules, prices, budget: {} },
      readPattern,
      servers: new Map(),
    });
  const examples: PolicyRule['examples'] = [
    { tool: 'git/push', arguments: { branch: 'main' }, decision: 'deny' },
    { tool: 'git/push', arguments: { branch: 'dev' }, decision: 'deny' },
    { tool: 'git/*', decision: 'deny' },
  ];
  const rule = ruleOf({ tools: ['git/*'], arguments: { branch: { equals: 'main' } }, decision: 'deny', examples });
  expect(mistakes([rule])).toEqual([
    {
      path: ['rules', 0, 'examples', 1, 'decision'],
      problem: expect.stringMatching(/^expected deny for this example, but it comes out as allow: preset default/),
    },
    { path: ['rules', 0, 'examples', 2, 'tool'], problem: expect.stringContaining('one tool') },
  ]);
  const unreadable = ruleOf({ arguments: { a: { matches: '(?=x)' } }, decision: 'allow' });
  expect(mistakes([unreadable, ruleOf({ tools: ['files'], decision: 'deny' })], { files: 1 })).toMatchObject([
    { path: ['prices', 'files'] },
    { path: ['rules', 0, 'arguments', 'a', 'matches'] },
    { path: ['rules', 1, 'tools'] },
  ]);
});
