import { expect, test } from 'vitest';
import { CAPABILITY_TOOLS } from './capability-tools.js';
import { FETCH_TARGET, FILE_TARGETS } from './targets.js';

test('programs call what capabilities grant by targets that exist', () => {
  expect([FETCH_TARGET, ...Object.values(FILE_TARGETS)]).toEqual([...CAPABILITY_TOOLS.keys()]);
});
