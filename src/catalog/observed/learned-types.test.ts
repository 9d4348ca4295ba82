import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CallerId } from '../../domain/run.js';
import type { Tool } from '../../domain/tool.js';
import { ObservedTypesFile } from '../../store/sqlite/observed-types-file.js';
import { LearnedTypes } from './learned-types.js';

const of = (caller: CallerId, profile = 'codemode') => ({ caller, profile });
const ME = 'me' as CallerId;
const TOOL: Tool = { serverId: 'weather', name: 'now', description: 'The weather.' };
const RESULT = { city: 'Reykjavik', temperature: 3, tags: ['canary-value'] };
const TYPE = '{ city: string; temperature: number; tags: string[] }';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'codemode-learned-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const path = () => join(folder, 'observed-types.json');
const open = (fingerprint = 'a') =>
  LearnedTypes.open({ file: new ObservedTypesFile(folder), fingerprintOf: () => fingerprint });

async function learnOnce(caller = ME, tool = TOOL): Promise<void> {
  const types = await open();
  types.observe(of(caller), tool, RESULT);
  await types.close();
}

test('what a tool returned is known to the next process, and its values are nowhere on disk', async () => {
  await learnOnce();
  expect((await open()).typeOf(of(ME), TOOL)).toBe(TYPE);
  expect(readFileSync(path(), 'utf8')).not.toMatch(/Reykjavik|canary/);
  expect(statSync(path()).mode & 0o777).toBe(0o600);
});

test('it is forgotten when the server is another one, or the tool is defined otherwise', async () => {
  await learnOnce();
  expect((await open('b')).typeOf(of(ME), TOOL)).toBeUndefined();
  expect((await open()).typeOf(of(ME), { ...TOOL, description: 'Something else.' })).toBeUndefined();
  const types = await open();
  const changed = { ...TOOL, inputSchema: { type: 'object' } };
  types.observe(of(ME), changed, { other: true });
  expect([types.typeOf(of(ME), changed), types.typeOf(of(ME), TOOL)]).toEqual(['{ other: boolean }', undefined]);
});

test('callers do not see what others have seen', async () => {
  await learnOnce();
  const other = 'another' as CallerId;
  const types = await open();
  types.observe(of(other), TOOL, { secret: 1 });
  expect(types.typeOf(of(other), TOOL)).toBe('{ secret: number }');
  expect(types.typeOf(of(ME), TOOL)).toBe(TYPE);
  await types.close();
  const again = await open();
  expect([again.typeOf(of(other), TOOL), again.typeOf(of(ME), TOOL)]).toEqual(['{ secret: number }', TYPE]);
});

test('two hosts that learn at the same time do not undo each other', async () => {
  const [one, two] = [await open(), await open()];
  const second = { ...TOOL, name: 'later' };
  one.observe(of(ME), TOOL, RESULT);
  two.observe(of(ME), second, { ok: true });
  await one.close();
  await two.close();
  const types = await open();
  expect([types.typeOf(of(ME), TOOL), types.typeOf(of(ME), second)]).toEqual([TYPE, '{ ok: boolean }']);
});

test.each([
  ['not JSON', '{'],
  ['an older form', '{"version":1,"tools":[["me","weather","now",{"k":"s"}]]}'],
  ['not a list of tools', '{"version":2,"tools":{"length":1e9}}'],
  ['tools that are none', '{"version":2,"tools":[null,[],["me"],["me","weather","now",7,{"k":"s"}]]}'],
])('a file that holds %s is as good as none', async (_, text) => {
  writeFileSync(path(), text);
  const types = await open();
  expect(types.typeOf(of(ME), TOOL)).toBeUndefined();
  types.observe(of(ME), TOOL, RESULT);
  await types.close();
  expect((await open()).typeOf(of(ME), TOOL)).toBe(TYPE);
});

test('an observed type is used only by the contract that observed it', async () => {
  const types = await open();
  types.observe(of(ME, 'unified'), TOOL, { parsed: true });
  expect([types.typeOf(of(ME), TOOL), types.typeOf(of(ME, 'unified'), TOOL)]).toEqual([
    undefined,
    '{ parsed: boolean }',
  ]);
  await types.close();
  expect((await open()).typeOf(of(ME, 'unified'), TOOL)).toBe('{ parsed: boolean }');
});
