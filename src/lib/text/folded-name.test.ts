import { expect, test } from 'vitest';
import { foldedName } from './folded-name.js';

test.each([
  'GitHub',
  'github ',
  ' git hub',
  'gіthub',
  'GΙTHUB',
  'git\u200bhub',
  'ｇithub',
  'gíthub',
  'g1thub',
  'git\u3164hub',
])('%j looks like github', (name) => {
  expect(foldedName(name)).toBe(foldedName('github'));
});

test.each(['gitlab', 'github2', 'hub'])('%j does not look like github', (name) => {
  expect(foldedName(name)).not.toBe(foldedName('github'));
});
