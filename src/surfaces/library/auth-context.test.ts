import { expect, test } from 'vitest';
import { callerOfContext } from './auth-context.js';

test('sessions of one user are callers of their own, and no name passes for another [C5]', () => {
  const caller = (userId: string, sessionId: string) =>
    callerOfContext({ userId, sessionId, scopes: [], capabilities: {}, expiresAt: new Date() });
  const callers = [caller('ann', '1'), caller('ann', '2'), caller('ann","1', ''), caller('an', 'n1')];
  expect(new Set(callers).size).toBe(callers.length);
  expect(caller('ann', '1')).toBe(caller('ann', '1'));
});
