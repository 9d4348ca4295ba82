import { expect, test } from 'vitest';
import { isSilent } from './run-summary.js';

const silent = (source: string, resultJson = 'null', hasOnlyRead = false) =>
  isSilent({ status: 'completed', resultJson }, [], source, { profile: 'codemode', hasOnlyRead });

test.each([
  'const __codemode_result__ = 4;',
  'let  __codemode_result__ = 4',
  'var __codemode_result__;',
  'const result = 4;',
])('%s assigns no result, and the program is told', (source) => {
  expect(silent(source)).toBe(true);
});

test.each(['globalThis.__codemode_result__ = null;', 'const __codemode_result__2 = 1;', '1 + 1'])(
  '%s is left alone',
  (source) => {
    expect(silent(source)).toBe(false);
  },
);
