import { chmodSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Spawn } from './jail.js';
import { digestOfJail, TestedJails } from './tested-jails.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'codemode-tested-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = () => join(folder, 'jail-tested.json');

test('a jail that held is remembered by the next process, and no other jail is', () => {
  new TestedJails(folder).add('one');
  expect(new TestedJails(folder).has('one')).toBe(true);
  expect(new TestedJails(folder).has('two')).toBe(false);
});

test('what others could have written is not believed, and neither is anything but a list', () => {
  new TestedJails(folder).add('one');
  chmodSync(file(), 0o666);
  expect(new TestedJails(folder).has('one')).toBe(false);
  chmodSync(file(), 0o644);
  expect(new TestedJails(folder).has('one')).toBe(true);
  writeFileSync(file(), '{"one": true}');
  expect(new TestedJails(folder).has('one')).toBe(false);
});

test('a folder that cannot be written remembers nothing and fails nothing', () => {
  const missing = new TestedJails(join(folder, 'none'));
  missing.add('one');
  expect(missing.has('one')).toBe(false);
});

test('the newest are kept', () => {
  const tested = new TestedJails(folder);
  for (let index = 0; index < 40; index += 1) tested.add(`jail ${index}`);
  expect(tested.has('jail 39')).toBe(true);
  expect(tested.has('jail 0')).toBe(false);
  expect((JSON.parse(readFileSync(file(), 'utf8')) as string[]).length).toBeLessThan(20);
});

test('another uid is the same jail; another command, filter or file is not', () => {
  const tool = join(folder, 'bwrap');
  writeFileSync(tool, 'tool');
  const spawnOf = (uid: string, filter = 'filter', namespaces = '--unshare-net'): Spawn => ({
    file: '/usr/bin/setpriv',
    args: ['--reuid', uid, '--regid', uid, '--', tool, namespaces],
    env: {},
    descriptors: [{ fd: 4, content: Buffer.from(filter) }],
  });
  const before = digestOfJail(spawnOf('100'));
  expect(digestOfJail(spawnOf('101'))).toBe(before);
  expect(digestOfJail(spawnOf('100', 'no filter'))).not.toBe(before);
  expect(digestOfJail(spawnOf('100', 'filter', '--share-net'))).not.toBe(before);
  utimesSync(tool, 1, 1);
  expect(digestOfJail(spawnOf('100'))).not.toBe(before);
});
