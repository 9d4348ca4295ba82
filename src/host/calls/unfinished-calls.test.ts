import { expect, test } from 'vitest';
import type { Tool } from '../../domain/tool.js';
import { UnfinishedCalls } from './unfinished-calls.js';

const toolNamed = (name: string, annotations: object = {}): Tool => ({
  serverId: 'shop',
  name,
  inputSchema: { type: 'object' },
  annotations,
});

test('only calls that were sent and are not safe to repeat may have run, each named once', () => {
  const calls = new UnfinishedCalls();
  for (const tool of [toolNamed('pay'), toolNamed('pay'), toolNamed('look', { readOnlyHint: true })])
    calls.begin('shop', tool).isSent = true;
  calls.begin('shop', toolNamed('waits'));
  const answered = calls.begin('shop', toolNamed('answered'));
  answered.isSent = true;
  calls.end(answered, false);
  expect(calls.mayHaveRun()).toEqual(['shop/pay']);
  expect(calls.trace().map(({ toolName, error }) => [toolName, error?.includes('may have taken effect')])).toEqual([
    ['pay', true],
    ['pay', true],
    ['look', true],
    ['waits', false],
  ]);
});

test('a call that was cancelled with its program may have run', () => {
  const calls = new UnfinishedCalls();
  const call = calls.begin('shop', toolNamed('pay'));
  call.isSent = true;
  calls.end(call, true);
  expect([calls.mayHaveRun(), calls.trace()]).toEqual([['shop/pay'], []]);
});
