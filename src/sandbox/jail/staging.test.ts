import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ROOT, requires } from '../../../test/support/needs.js';
import { isReadableByEveryone, Staging } from './staging.js';

describe('staging', requires(ROOT), () => {
  let base = '';
  let folder = '';
  let secret = '';
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'codemode-staging-'));
    chmodSync(base, 0o755);
    folder = join(base, 'staged');
    mkdirSync(join(base, 'private'), { mode: 0o700 });
    secret = join(base, 'private', 'worker.js');
    writeFileSync(secret, 'one', { mode: 0o644 });
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  test('a file that everyone can read is used where it is', () => {
    const open = join(base, 'open.js');
    writeFileSync(open, '', { mode: 0o644 });
    expect(new Staging(folder).readable(open)).toBe(open);
  });

  test('a file behind a closed folder is copied to where everyone can read it, once', () => {
    expect(isReadableByEveryone(secret)).toBe(false);
    const staged = new Staging(folder).readable(secret);
    expect(readFileSync(staged, 'utf8')).toBe('one');
    expect(isReadableByEveryone(staged)).toBe(true);
    expect(lstatSync(staged).mode & 0o222).toBe(0);
    const { ino } = lstatSync(staged);
    expect(lstatSync(new Staging(folder).readable(secret)).ino).toBe(ino);
  });

  test('a program is linked, not copied, and a second look finds the same link', () => {
    chmodSync(secret, 0o755);
    const staged = new Staging(folder).readable(secret);
    expect(lstatSync(staged).ino).toBe(lstatSync(secret).ino);
    expect(new Staging(folder).readable(secret)).toBe(staged);
  });

  test('another content is another file', () => {
    const before = new Staging(folder).readable(secret);
    writeFileSync(secret, 'three');
    expect(readFileSync(new Staging(folder).readable(secret), 'utf8')).toBe('three');
    expect(readFileSync(before, 'utf8')).toBe('one');
  });

  test('a folder that others can write or that is a link is refused with the command to fix it', () => {
    mkdirSync(folder, { mode: 0o777 });
    chmodSync(folder, 0o777);
    expect(() => new Staging(folder).readable(secret)).toThrow(/chmod 755/);
    const link = join(base, 'link');
    mkdirSync(join(base, 'elsewhere'));
    symlinkSync(join(base, 'elsewhere'), link);
    expect(() => new Staging(link).readable(secret)).toThrow(/must be a folder that belongs to root/);
  });

  test('copies that no host has used for a week are thrown away, and others are not', () => {
    const old = new Staging(folder).readable(secret);
    const weeksAgo = new Date(Date.now() - 8 * 24 * 60 * 60 * 1000);
    utimesSync(`${old}.used`, weeksAgo, weeksAgo);
    writeFileSync(join(folder, 'kept-by-hand'), '');
    writeFileSync(secret, 'three');
    const next = new Staging(folder).readable(secret);
    expect(readdirSync(folder).sort()).toEqual([basename(next), `${basename(next)}.used`, 'kept-by-hand'].sort());
    // A host that uses it again finds it and marks it as used.
    new Staging(folder).readable(secret);
    expect(readdirSync(folder)).toHaveLength(3);
  });

  test('a program that is only linked keeps its own times', () => {
    chmodSync(secret, 0o755);
    const { mtimeMs } = lstatSync(secret);
    const staged = new Staging(folder).readable(secret);
    expect([lstatSync(secret).mtimeMs, lstatSync(`${staged}.used`).size]).toEqual([mtimeMs, 0]);
  });

  test('a folder that cannot be made is an error, not a wait without end', () => {
    expect(() => new Staging('/proc/nowhere/deeper').readable(secret)).toThrow(
      /could not be copied to \/proc\/nowhere/,
    );
  });

  test('a file that someone planted in the place of a copy is replaced', () => {
    const staged = new Staging(folder).readable(secret);
    rmSync(staged);
    symlinkSync('/etc/passwd', staged);
    const again = new Staging(folder).readable(secret);
    expect([again, readFileSync(again, 'utf8'), lstatSync(again).isFile()]).toEqual([staged, 'one', true]);
  });
});
