import { expect, test } from 'vitest';
import type { CatalogServer, CatalogSnapshot, CatalogTool } from '../../catalog/snapshot.js';
import type { JsonValue } from '../../domain/json.js';
import { inverseArguments } from './inverse-arguments.js';
import type { RecordedAnswer } from './recorded-answers.js';
import { planUndo } from './undo-plan.js';

const call = { arguments: { repo: 'a/b', list: [{ id: 7 }] }, result: { number: 12, nothing: null } };

test.each([
  [{ issue: '$result.number' }, { issue: 12 }],
  [
    { id: '$arguments.list.0.id', state: 'closed' },
    { id: 7, state: 'closed' },
  ],
  [{ all: '$result' }, { all: call.result }],
  [{ deep: { repos: ['$arguments.repo'] } }, { deep: { repos: ['a/b'] } }],
  [
    { price: '$$result', nothing: '$result.nothing' },
    { price: '$result', nothing: null },
  ],
])('the arguments of an inverse are made of the call: %j', (template, expected) => {
  expect(inverseArguments(template, call)).toEqual({ arguments: expected });
});

test.each<[string, JsonValue]>([
  ['JSON text', '{"issue":{"number":7}}'],
  ['JSON under a heading', 'Created 1 issue:\n{"issue":{"number":7}}'],
  ['a whole MCP result', { content: [{ type: 'text', text: '{"issue":{"number":7}}' }] }],
])('a part of an answer that is %s is found in its data', (_, result) => {
  expect(inverseArguments({ it: '$result.issue.number' }, { arguments: {}, result })).toEqual({ arguments: { it: 7 } });
});

test.each<[string, JsonValue]>([
  ['a number that is rounded', '{"number":12345678901234567890}'],
  ['a Python literal, which is not read exactly', "{'number': 7}"],
  ['two texts', { content: ['{"number":7}', '{"number":8}'].map((text) => ({ type: 'text', text })) }],
  ['text that was cut', '{"number":7,"body":"it was lo'],
])('%s is not in the answer', (_, result) => {
  expect(inverseArguments({ it: '$result.number' }, { arguments: {}, result })).toEqual({ missing: '$result.number' });
});

test.each([
  '$result.missing',
  '$result.constructor',
  '$result.__proto__',
  '$arguments.list.length',
  '$result.number.toFixed',
])('%s is not in the call', (reference) => {
  expect(inverseArguments({ it: reference }, call)).toEqual({ missing: reference });
});

const server: CatalogServer = { id: 'git', path: 'git', name: 'git', isAvailable: true, tools: [] };
const tool = (name: string, annotations = {}): CatalogTool => ({
  ...{ tool: { serverId: 'git', name, annotations }, exportName: name, target: `git/${name}`, server },
});
const whole: CatalogServer = {
  ...server,
  tools: [tool('create'), tool('close'), tool('list', { readOnlyHint: true }), tool('push')],
};
const snapshot: CatalogSnapshot = {
  ...{ version: 1, servers: [whole], serverByPath: new Map([['git', whole]]) },
  toolByTarget: new Map(whole.tools.map((each) => [each.target, each])),
};
const rules = [
  { tool: 'git/create', with: 'close', arguments: { id: '$result.id' } },
  { tool: 'git/push', with: 'other/unpush', arguments: {} },
];
const answer = (number: number, name: string, more: Partial<RecordedAnswer> = {}): RecordedAnswer => ({
  ...{ call: number, server: 'git', tool: name, input: {}, outcome: 'answered', result: { id: number } },
  ...more,
});

test('calls are planned from the last to the first, each with the reason why or why not', () => {
  const answers = [
    ...[answer(1, 'create'), answer(2, 'list'), answer(3, 'push'), answer(4, 'close')],
    ...[answer(5, 'create', { outcome: 'failed' }), answer(6, 'create', { outcome: 'unknown' })],
    ...[answer(7, 'create', { result: {} }), answer(8, 'create'), answer(9, 'create'), answer(10, 'create')],
    answer(11, 'create'),
  ];
  const states = new Map([
    [8, 'undone' as const],
    [9, 'begun' as const],
    [10, 'unknown' as const],
    [11, 'failed' as const],
  ]);
  const plan = planUndo(answers, { rules, snapshot, states });
  expect(plan.map(({ call: number, state, why }) => `${number} ${state}: ${why}`)).toEqual([
    '11 ready: by git/close, which failed the last time',
    '10 impossible: the record of undoing it was changed; check it yourself',
    '9 impossible: undoing it was begun, and the outcome is unknown; check it yourself',
    '8 undone: it was undone',
    '7 impossible: $result.id of policy.undo is not in the call',
    '6 impossible: its outcome is unknown; check it yourself',
    '5 nothing: it failed',
    '4 impossible: no rule of policy.undo covers git/close',
    '3 impossible: there is no tool other/unpush, which policy.undo names',
    '2 nothing: its server says that it only reads',
    '1 ready: by git/close',
  ]);
  expect(plan.at(-1)?.inverse).toMatchObject({ tool: 'git/close', arguments: { id: 1 } });
});
