// @ts-check
import { expect, test } from 'vitest';
import { completePackages, findLockProblems } from './check-lockfile.mjs';

const tool = {
  version: '2.0.0',
  dev: true,
  optionalDependencies: { '@tool/linux-x64-gnu': '2.0.0', '@tool/linux-arm-musleabihf': '2.0.0' },
};
const gnu = { version: '2.0.0', integrity: 'sha512-a', optional: true };
const gap = { '': {}, 'node_modules/@tool/linux-x64-gnu': gnu, 'node_modules/tool': tool };

test('an optional package that is not locked is found, wherever Node would look for it', () => {
  expect(findLockProblems(gap)).toEqual(['node_modules/tool: optional @tool/linux-arm-musleabihf@2.0.0 is not locked']);
  const nested = { ...gap, 'node_modules/tool/node_modules/@tool/linux-arm-musleabihf': { version: '2.0.0' } };
  expect(findLockProblems(nested)).toEqual([]);
});

test('another version than the one asked for does not count as locked', () => {
  const other = { ...gap, 'node_modules/@tool/linux-arm-musleabihf': { version: '1.0.0' } };
  expect(findLockProblems(other)).toHaveLength(1);
  expect(completePackages(other)).toHaveProperty(['node_modules/tool/node_modules/@tool/linux-arm-musleabihf']);
});

test('a gap is filled with the platform that the name says, and nothing else changes', () => {
  const complete = completePackages(gap);
  expect(complete).toEqual({
    ...gap,
    'node_modules/@tool/linux-arm-musleabihf': {
      version: '2.0.0',
      cpu: ['arm'],
      libc: ['musl'],
      os: ['linux'],
      dev: true,
      optional: true,
    },
  });
  expect(findLockProblems(complete)).toEqual([]);
});

test('a package whose platform cannot be told is not made up', () => {
  const odd = { 'node_modules/tool': { version: '1.0.0', optionalDependencies: { extra: '1.0.0' } } };
  expect(() => completePackages(odd)).toThrow('extra does not say its platform');
});
