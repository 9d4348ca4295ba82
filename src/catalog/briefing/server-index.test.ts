import { expect, test } from 'vitest';
import { byUsefulness } from './server-index.js';

test('servers that are down or still starting come last, whatever was used before', () => {
  const server = (path: string, count: number) => ({ path, tools: Array.from({ length: count }) as never[] });
  const sorted = byUsefulness(
    [server('dead', 0), server('large', 9), server('small', 2), server('used', 30)],
    new Map([
      ['used', 8],
      ['dead', 20],
    ]),
  );
  expect(sorted.map(({ path }) => path)).toEqual(['used', 'small', 'large', 'dead']);
});
