import { expect, test } from 'vitest';
import { depthForServers } from './nesting-depth.js';

test('each level tells the next one, and the fifth does not start', () => {
  expect(depthForServers({})).toEqual({ CODEMODE_DEPTH: '1' });
  expect(depthForServers({ CODEMODE_DEPTH: '3' })).toEqual({ CODEMODE_DEPTH: '4' });
  expect(() => depthForServers({ CODEMODE_DEPTH: '4' })).toThrow('started by codemode 4 levels deep');
  for (const odd of ['', '-1', 'x', '1e9'])
    expect(depthForServers({ CODEMODE_DEPTH: odd })).toEqual({ CODEMODE_DEPTH: '1' });
});
