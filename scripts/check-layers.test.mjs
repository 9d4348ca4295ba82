// @ts-check
import { expect, test } from 'vitest';
import { findEnvironmentReads } from './check-layers.mjs';

const readsIn = (text, file = 'src/host/a.ts') => findEnvironmentReads([file], () => text);

test.for([
  'export const home = process.env.HOME;',
  "export const home = process['env'];",
  'export const all = globalThis.process.env;',
  'const { env: all } = process;',
  "import { env } from 'node:process';",
])('the environment is not read outside the configuration: %s', (text) => {
  expect(readsIn(text)).toEqual(['src/host/a.ts:1: reads the environment; only src/config/ may']);
});

test('the configuration and tests may read the environment', () => {
  expect(readsIn('process.env;', 'src/config/files/layers.ts')).toEqual([]);
  expect(readsIn('process.env;', 'src/host/a.test.ts')).toEqual([]);
});

test('a comment, a string or another property is not a read of the environment', () => {
  const text = `// process.env
    export const text = 'process.env'; process.exit; options.env;
    import { exit } from 'node:process';`;
  expect(readsIn(text)).toEqual([]);
});
