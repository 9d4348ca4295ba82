import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { needs } from '../../../test/support/needs.js';
import { asciiJson } from './ascii-json.js';

const VALUES = {
  b: [1, 1.5, -0.25, 0.0001, 0.00001, 1.25e-7, -3e-12, 1e-310, 1e21, 123456789012345680000, 0],
  a: { ﬀ: 1, '🎉': 'grüße 🎉 \u007f \u0000 " \\ / \u2028', '\uff21': null, '': true, z: false },
  e: [],
  o: {},
};

test('keys are sorted, and everything beyond ASCII is escaped [B2]', () => {
  expect(asciiJson({ b: 'ü🎉', a: [null, true, 1.0] })).toBe('{"a":[null,true,1],"b":"\\u00fc\\ud83c\\udf89"}');
});

test('Python reads what we write and writes the same [B2]', needs('python3'), () => {
  const line = JSON.stringify(VALUES);
  const program = 'import json,sys; print(json.dumps(json.load(sys.stdin), separators=(",", ":"), sort_keys=True))';
  expect(asciiJson(VALUES)).toBe(execFileSync('python3', ['-c', program], { input: line, encoding: 'utf8' }).trim());
});
