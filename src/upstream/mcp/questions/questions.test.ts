import { expect, test } from 'vitest';
import type { Audience, QuestionKind, Respondent } from '../../../domain/question.js';
import { Questions } from './questions.js';

const told = (...kinds: QuestionKind[]) =>
  new Questions('server', { announced: () => kinds } as unknown as Audience, false).capabilities();

test('a server learns only the supported questions; sampling may carry tools [B23]', () => {
  expect(told('sampling')).toEqual({ sampling: { tools: {} } });
  expect(told('elicitation', 'roots')).toEqual({ elicitation: { form: {}, url: {} }, roots: {} });
  expect(told()).toEqual({});
});

test('open questions of one caller, from any number of clients, do not block other callers', async () => {
  const questions = new Questions('server', { announced: () => [], onlyClient: () => undefined }, true);
  const asked: string[] = [];
  const respondent = (caller: string, client: number, isAnswering: boolean): Respondent => ({
    key: `${caller} ${client}`,
    caller,
    capabilities: {},
    answer: async ({ signal }) => {
      asked.push(caller);
      if (isAnswering) return { action: 'accept' };
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('taken back'))));
    },
  });
  const form = { method: 'elicitation/create', params: { message: 'x' } };
  const ask = (who: Respondent, count: number) =>
    questions.during(who, 10_000, (call) =>
      questions.answerAll(Object.fromEntries(Array.from({ length: count }, (_, index) => [`q${index}`, form])), call),
    );
  void ask(respondent('greedy', 1, false), 10).catch(() => {});
  void ask(respondent('greedy', 2, false), 6).catch(() => {});
  await expect(ask(respondent('greedy', 3, true), 1)).rejects.toThrow('at most 16 questions are answered at a time');
  expect(await ask(respondent('other', 1, true), 16)).toMatchObject({ q0: { action: 'accept' } });
  expect(asked.filter((caller) => caller === 'greedy')).toHaveLength(16);
});
