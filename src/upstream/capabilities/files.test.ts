import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { FilesystemCapability } from '../../domain/capability.js';
import { fileTools } from './files.js';

const root = mkdtempSync(join(tmpdir(), 'codemode-files-'));
const data = join(root, 'data');
mkdirSync(join(data, 'deep'), { recursive: true });
mkdirSync(join(root, 'data-2'));
writeFileSync(join(data, 'a.txt'), 'inside');
writeFileSync(join(data, 'deep', 'b.csv'), 'x,y');
writeFileSync(join(root, 'secret.txt'), 'outside');
writeFileSync(join(root, 'data-2', 'c.txt'), 'outside');
symlinkSync(join(root, 'secret.txt'), join(data, 'link.txt'));
symlinkSync(root, join(data, 'up'));
spawnSync('mkfifo', [join(data, 'pipe.txt')]);
afterAll(() => rmSync(root, { recursive: true }));

const grant = (changes: Partial<FilesystemCapability> = {}): FilesystemCapability => ({
  paths: [data],
  isReadOnly: true,
  maxFileBytes: 1_000,
  ...changes,
});

async function use(tool: string, input: Record<string, string>, filesystem: FilesystemCapability | null = grant()) {
  const grants = filesystem === null ? {} : { filesystem };
  try {
    return await fileTools[tool]?.execute(input, { signal: new AbortController().signal, report: () => {}, grants });
  } catch (error) {
    return (error as Error).message;
  }
}

test('what is below a granted folder is read', async () => {
  expect(await use('readFile', { path: join(data, 'a.txt') })).toBe('inside');
  expect(await use('readFile', { path: `${data}/deep/../deep/b.csv` })).toBe('x,y');
  const listed = (await use('listFolder', { path: data })) as { entries: { name: string; kind: string }[] };
  expect(listed.entries).toContainEqual({ name: 'deep', kind: 'folder' });
});

test('no spelling and no link leads out of it', async () => {
  const outside = [
    ...[
      '/etc/passwd',
      `${data}/../secret.txt`,
      join(data, 'link.txt'),
      `${data}/up/secret.txt`,
      `${root}/data-2/c.txt`,
    ],
    ...[join(data, 'deep/../../secret.txt'), '/proc/self/environ', `/proc/self/cwd/package.json`],
  ];
  for (const path of outside) {
    const answer = await use('readFile', { path });
    expect(answer, path).toBe(`the request was not granted filesystem:${path}`);
  }
  for (const path of ['a.txt', '', 'x\0y'])
    expect(await use('readFile', { path })).toContain('is not an absolute path');
  expect(await use('listFolder', { path: `${data}/up` })).toContain('was not granted');
});

test('nothing tells whether something exists that was not granted', async () => {
  const path = join(root, 'no-such-file');
  expect(await use('readFile', { path })).toBe(`the request was not granted filesystem:${path}`);
  expect(await use('readFile', { path: join(data, 'none.txt') })).toContain('does not exist');
});

test('without a grant nothing is read', async () => {
  const path = join(data, 'a.txt');
  expect(await use('readFile', { path }, null)).toBe(`the request was not granted filesystem:${path}`);
});

test('sizes and endings bound what is read, also of files that say nothing of their size', async () => {
  writeFileSync(join(data, 'large.txt'), 'x'.repeat(1_001));
  expect(await use('readFile', { path: join(data, 'large.txt') })).toContain('has 1001 bytes');
  expect(await use('readFile', { path: join(data, 'a.txt') }, grant({ extensions: ['.csv'] }))).toContain('.csv');
  expect(await use('readFile', { path: join(data, 'pipe.txt') })).toContain('is not a file');
  const version = await use('readFile', { path: '/proc/version' }, grant({ paths: ['/proc'], maxFileBytes: 10 }));
  expect(version).toContain('files may have at most 10');
});

test('a grant counts only within the folders of token and configuration, for reads and writes', async () => {
  const linked = grant({ paths: [join(data, 'up')], within: [[data], [root]], isReadOnly: false });
  for (const [tool, name] of [
    ['readFile', 'secret.txt'],
    ['writeFile', 'secret.txt'],
    ['writeFile', 'evil.txt'],
  ] as const)
    expect(await use(tool, { path: `${data}/up/${name}`, text: 'x' }, linked)).toContain('was not granted');
  expect(await use('readFile', { path: `${data}/up/data/a.txt` }, linked)).toBe('inside');
  expect(await use('readFile', { path: `${data}/up/none.txt` }, grant())).toContain('was not granted');
});

test('writing needs its own grant, and makes files only below it', async () => {
  const path = join(data, 'new.txt');
  expect(await use('writeFile', { path, text: 'x' })).toContain('for writing');
  const writable = grant({ isReadOnly: false });
  expect(await use('writeFile', { path, text: 'hello' }, writable)).toEqual({ bytes: 5 });
  expect(readFileSync(path, 'utf8')).toBe('hello');
  expect(await use('writeFile', { path: join(data, 'link.txt'), text: 'x' }, writable)).toContain('is a link');
  expect(await use('writeFile', { path: `${data}/up/evil.txt`, text: 'x' }, writable)).toContain('was not granted');
  expect(await use('writeFile', { path: `${data}/..`, text: 'x' }, writable)).toContain('names no file');
  expect(await use('writeFile', { path, text: 'x'.repeat(1_001) }, writable)).toContain('files may have at most 1000');
  expect(readFileSync(join(root, 'secret.txt'), 'utf8')).toBe('outside');
});

test('a folder that is exchanged for a link meanwhile leads nowhere', async () => {
  const folder = join(data, 'swap');
  mkdirSync(folder);
  const writable = grant({ isReadOnly: false });
  const writes = Array.from({ length: 200 }, (_, index) =>
    use('writeFile', { path: join(folder, `f${index}.txt`), text: 'x' }, writable),
  );
  for (let round = 0; round < 50; round += 1) {
    renameSync(folder, `${folder}-away`);
    symlinkSync(join(root, 'data-2'), folder);
    await new Promise(setImmediate);
    rmSync(folder);
    renameSync(`${folder}-away`, folder);
    await new Promise(setImmediate);
  }
  await Promise.all(writes);
  expect(spawnSync('ls', [join(root, 'data-2')], { encoding: 'utf8' }).stdout).toBe('c.txt\n');
});
