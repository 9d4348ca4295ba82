import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { QuestionRequests } from './question-requests.js';

const context = {
  mcpReq: {
    requestState: () => undefined,
    envelope: { [CLIENT_CAPABILITIES_META_KEY]: { elicitation: {} } },
    signal: new AbortController().signal,
  },
} as unknown as ServerContext;

test('calls that wait for a person are bounded per caller, also when they ask at once', async () => {
  const questions = new QuestionRequests(undefined, 2);
  const ask = async (caller: string) => {
    const answered = await questions.answer(context, { caller, person: {} }, async ({ showForm, signals }) => {
      await showForm?.({ message: 'sure?' }, signals[0] as AbortSignal);
      return { content: [] };
    });
    return 'inputRequests' in answered ? 'asked' : 'answered';
  };
  const outcomes = await Promise.allSettled([ask('mallory'), ask('mallory'), ask('mallory')]);
  expect(outcomes.map((each) => (each.status === 'fulfilled' ? each.value : String(each.reason)))).toEqual([
    ...['asked', 'asked', expect.stringContaining('too many calls wait')],
  ]);
  expect(await ask('bob')).toBe('asked');
  questions.close();
});
