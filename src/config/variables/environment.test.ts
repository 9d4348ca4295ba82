import { expect, test } from 'vitest';
import { inheritedEnvironment, pickVariables } from './environment.js';

test('a server inherits what it needs to run, and no secret of ours', () => {
  const ours = {
    PATH: '/bin',
    HOME: '/home/a',
    AWS_SECRET_ACCESS_KEY: 'x',
    CODEMODE_APPROVER_SECRET: 'y',
    SHELL: '() { :; }',
  };
  expect(inheritedEnvironment(ours)).toEqual({ PATH: '/bin', HOME: '/home/a' });
});

test('named variables are passed on where they are set, and exported shell functions never', () => {
  const ours = { A: '1', EMPTY: '', F: '() { :; }' };
  expect(pickVariables(ours, ['A', 'EMPTY', 'F', 'MISSING'])).toEqual({ A: '1', EMPTY: '' });
});
