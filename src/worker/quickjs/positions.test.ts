import { transformSync } from 'oxc-transform';
import { describe, expect, test } from 'vitest';
import { firstPosition, PositionMap } from './positions.js';

/** A line of types, then a call that fails: the code that runs is three lines shorter. */
const SOURCE = 'interface A {\n  a: 1;\n}\nfunction fail(a: A): never { throw new Error("x"); }\nfail({ a: 1 });\n';
const { code, map } = transformSync('main.ts', SOURCE, { lang: 'ts', sourcemap: true });
const positions = new PositionMap(JSON.stringify({ ...map, sources: ['main.ts'] }));

const lineOf = (text: string) => code.split('\n').findIndex((line) => line.includes(text)) + 1;

describe('a stack', () => {
  test('is reported in lines of the original source', () => {
    const raw = `    at fail (main.ts:${lineOf('throw')}:2)\n    at <anonymous> (main.ts:${lineOf('fail({')}:1)\n`;
    expect(positions.stack(raw)).toBe('    at fail (main.ts:4:30)\n    at <anonymous> (main.ts:5:1)');
  });

  test('has no frames of ours', () => {
    const raw = '    at bindCall (codemode:boot:1:2)\n    at codemode:bindings:3:4\n    at main.ts:5:1\n';
    expect(positions.stack(raw)).not.toContain('codemode:');
    expect(positions.stack(raw).split('\n')).toHaveLength(1);
  });

  test('has at most 32 frames', () => {
    expect(positions.stack('    at f (main.ts:1:1)\n'.repeat(10_000)).split('\n')).toHaveLength(32);
  });

  test('leaves text that is not a position of the program unchanged', () => {
    for (const raw of ['    at map (native)', 'Error: main.ts:1:1', '    at f (other.ts:1:1)', '    at f (main.ts:1)'])
      expect(positions.stack(raw)).toBe(raw);
  });

  test('of a program that was not transpiled, or whose map has no such place, keeps its places', () => {
    expect(new PositionMap('').stack('    at f (main.ts:9:9)')).toBe('    at f (main.ts:9:9)');
    expect(positions.stack('    at f (main.ts:999999:1)')).toBe('    at f (main.ts:999999:1)');
  });

  test('of hostile text is read in time that grows with its length', () => {
    const evil = `    at ${'main.ts:1:'.repeat(50_000)}x`;
    expect(positions.stack(evil)).toBe(evil);
    expect(positions.stack(`${' '.repeat(100_000)}at `)).toHaveLength(100_003);
  });
});

test('where a stack begins is its first place in the program', () => {
  expect(firstPosition('    at map (native)\n    at f (main.ts:3:7)\n    at main.ts:1:1')).toEqual({
    line: 3,
    column: 7,
  });
  expect(firstPosition('    at main.ts:1:2')).toEqual({ line: 1, column: 2 });
  expect(firstPosition('')).toBeUndefined();
  expect(firstPosition('    at f (elsewhere.ts:3:7)')).toBeUndefined();
});
