import { expect, test } from 'vitest';
import { serversHeading } from './servers-heading.js';

test.each([
  [{ serverCount: 2, toolCount: 3, startingCount: 0 }, '## Connected servers: 2, tools: 3'],
  [{ serverCount: 2, toolCount: 0, startingCount: 2 }, '## Servers: 2 (still starting), tools so far: 0'],
  [{ serverCount: 5, toolCount: 9, startingCount: 1 }, '## Servers: 5 (1 still starting), tools so far: 9'],
])('the heading of %j counts servers and tools', (counts, heading) => {
  expect(serversHeading(counts)).toBe(heading);
});
