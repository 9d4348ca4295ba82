import { expect, test } from 'vitest';
import type { Audience, QuestionKind } from '../../domain/question.js';
import { Questions } from './questions.js';

const told = (...kinds: QuestionKind[]) =>
  new Questions('server', { announced: () => kinds } as unknown as Audience, false).capabilities();

test('a server is told what is answered and nothing else; questions to the model may carry tools [B23]', () => {
  expect(told('sampling')).toEqual({ sampling: { tools: {} } });
  expect(told('elicitation', 'roots')).toEqual({ elicitation: { form: {}, url: {} }, roots: {} });
  expect(told()).toEqual({});
});
