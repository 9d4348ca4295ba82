import { expect, test } from 'vitest';
import { MODEL_SAFE_NAME, modelSafeName } from './model-safe-name.js';

test('a name that model APIs accept stays as it is', () => {
  for (const name of ['codemode_run', 'a', 'list-issues', '7', 'x'.repeat(64)]) expect(modelSafeName(name)).toBe(name);
});

test('other characters become underscores', () => {
  expect(modelSafeName('codemode.run')).toBe('codemode_run');
  expect(modelSafeName('a b/c:ü')).toBe('a_b_c__');
  expect(modelSafeName('a😀b')).toBe('a_b');
});

test('a long name is cut and ends with a digest of the whole name', () => {
  const [one, other] = [`${'x'.repeat(64)}1`, `${'x'.repeat(64)}2`].map(modelSafeName);
  expect(one).toBe(`${'x'.repeat(55)}_39d1a733`);
  expect(other).not.toBe(one);
});

test('names without a letter or digit are told apart by a digest', () => {
  const names = ['工具', '…', '', '___.'].map(modelSafeName);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^tool_[0-9a-f]{8}$/);
});

test('every name comes out acceptable', () => {
  for (const name of ['\0', '\ud800', 'é'.repeat(200), '.'.repeat(70), 'a'.repeat(10_000)])
    expect(modelSafeName(name)).toMatch(MODEL_SAFE_NAME);
});
