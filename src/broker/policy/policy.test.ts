import { describe, expect, test } from 'vitest';
import { openGate, ruleOf } from '../../../test/support/policy.js';
import type { Decision, PolicyRule, PolicySettings } from '../../domain/policy.js';
import type { Tool } from '../../domain/tool.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { readPattern } from '../arguments/pattern.js';
import { policyMistakes } from './mistakes.js';
import { Policy } from './policy.js';
import { type Asked, ask, decisionOf, toolOf } from './policy.test-support.js';

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
      const more = omitUndefined({ annotations });
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

  test('goes by the name for functions of the embedding program, whose annotations are trusted', () => {
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

test('wrong examples and expressions that do not parse are found with their position', () => {
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
