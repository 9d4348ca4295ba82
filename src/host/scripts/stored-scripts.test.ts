import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { MAX_SOURCE_BYTES } from '../../domain/limits.js';
import { Database } from '../../store/sqlite/database.js';
import { scriptSign } from '../../store/sqlite/script-sign.js';
import { SqliteScriptStore } from '../../store/sqlite/scripts.js';
import { checkScriptInput, MAX_INPUT_BYTES } from './script-input.js';
import { type NewScript, ScriptLibrary } from './stored-scripts.js';

const folder = mkdtempSync(join(tmpdir(), 'codemode-library-'));
const database = await Database.open(folder);
let openings = 0;
const open = async () => {
  openings++;
  return new SqliteScriptStore(database, new Uint8Array(32).fill(1));
};
const library = new ScriptLibrary(open, scriptSign(folder));
afterAll(() => {
  database.close();
  rmSync(folder, { recursive: true, force: true });
});

const script = (name: string, more: Partial<NewScript> = {}): NewScript => ({
  name,
  source: '1',
  description: '',
  profile: 'codemode',
  language: 'javascript',
  ...more,
});

test('where nothing was ever stored, the store is not opened to say so', async () => {
  expect(library.known()).toEqual([]);
  await library.openIfAny();
  expect(openings).toBe(0);
});

test('what is known is of every contract, and as it is now', async () => {
  await library.add(script('ours'));
  await library.add(script('theirs', { profile: 'code_execution' }));
  expect(library.known().map(({ name }) => name)).toEqual(['ours', 'theirs']);
  await library.remove('theirs');
  expect(library.known().map(({ name }) => name)).toEqual(['ours']);
  expect(openings).toBe(1);
});

test.each([
  '',
  '..',
  '../up',
  'a/b',
  'a\\b',
  '/etc/passwd',
  'a.b',
  'a b',
  'Upper',
  '-flag',
  '_under',
  'nul\u0000',
  'a\n',
  'ünïcode',
  'а-cyrillic',
  'a\u200b',
  '__proto__',
  "a'; DROP TABLE scripts; --",
  'a'.repeat(65),
])('%j cannot be the name of a script', async (name) => {
  const refusal = { code: 'bad_input', message: expect.stringContaining('cannot be the name of a script') };
  await expect(library.add(script(name))).rejects.toMatchObject(refusal);
  await expect(library.get(name)).rejects.toMatchObject(refusal);
  await expect(library.remove(name)).rejects.toMatchObject(refusal);
});

test.each(['a', '0', 'a-b_c', 'constructor', 'a'.repeat(64)])('%j can be the name of a script', async (name) => {
  await library.add(script(name));
  expect((await library.get(name)).name).toBe(name);
  await library.remove(name);
});

test('a source, a description and a schema have a size that they may not pass', async () => {
  const add = (more: Partial<NewScript>) => library.add(script('large', more));
  await expect(add({ source: 'é'.repeat(MAX_SOURCE_BYTES / 2 + 1) })).rejects.toMatchObject({ code: 'bad_input' });
  await expect(add({ description: 'x'.repeat(501) })).rejects.toMatchObject({ code: 'bad_input' });
  await expect(add({ inputSchema: { description: 'x'.repeat(64 * 1024) } })).rejects.toMatchObject({
    code: 'bad_input',
  });
});

test('a description is kept with everything in it to be seen', async () => {
  await library.add(script('shown', { description: '\u001b[31mred\u202e and \u200bback' }));
  expect((await library.get('shown')).description).toBe('\\u001b[31mred\\u202e and \\u200bback');
});

test('an input is an object of a bounded size that fits the schema', () => {
  const head = {
    ...script('fits'),
    digest: '',
    createdAtMs: 0,
    version: 1,
    inputSchema: { properties: { n: { type: 'number' } } },
  };
  expect(checkScriptInput(head, { n: 1 })).toEqual({ ok: true, input: { n: 1 } });
  expect(checkScriptInput(head, undefined)).toEqual({ ok: true, input: {} });
  expect(checkScriptInput(head, { n: 'x' })).toMatchObject({ ok: false, error: { fields: { path: '/n' } } });
  for (const wrong of [[], 'text', 1, null, { text: 'x'.repeat(MAX_INPUT_BYTES) }])
    expect(checkScriptInput(head, wrong)).toMatchObject({ ok: false, error: { errorClass: 'SchemaValidationError' } });
});
