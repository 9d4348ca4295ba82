import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type LogSettings, openLog } from './log.js';
import { LogFile } from './log-file.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'codemode-log-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const path = () => join(folder, 'deep', 'codemode.log');
const lines = () => readFileSync(path(), 'utf8').trim().split('\n');
const open = (settings: Partial<LogSettings>) =>
  openLog({ level: 'info', format: 'text', outputs: [{ type: 'file', path: path(), keep: 30 }], ...settings });

describe('the log', () => {
  test('leaves out what weighs less than its level', () => {
    const log = open({ level: 'warn' });
    log('ordinary');
    log('odd', 'warn');
    log('bad\u001b[31m', 'error');
    expect(lines()).toEqual(['codemode: warning: odd', expect.stringMatching(/^codemode: error: bad[\x20-\x7e]*$/)]);
  });

  test('that is silent writes nothing, not even a file', () => {
    open({ level: 'silent' })('bad', 'error');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('as JSON has one object a line, with its time and its level', () => {
    open({ format: 'json' })('two\nlines', 'error');
    expect(lines().map((line) => JSON.parse(line))).toEqual([
      { time: expect.stringMatching(/^\d{4}-.*Z$/), level: 'error', message: 'two\nlines' },
    ]);
  });

  test('names the run and the trace that a line is about [C14]', () => {
    open({ format: 'json' })('it ended', 'warn', { runId: 'r1', traceId: 't1' });
    open({})('it ended', 'warn', { runId: 'r1', traceId: 't1' });
    expect(JSON.parse(lines()[0] as string)).toMatchObject({ message: 'it ended', runId: 'r1', traceId: 't1' });
    expect(lines()[1]).toBe('codemode: warning: run r1: it ended (trace t1)');
  });
});

describe('a log file', () => {
  const yesterday = () => {
    const time = new Date(Date.now() - 86_400_000);
    return { time, stamp: time.toISOString().slice(0, 10) };
  };

  test('is readable by its owner only, and is appended to by later processes', () => {
    open({})('one');
    open({})('two');
    expect(lines()).toEqual(['codemode: one', 'codemode: two']);
    expect(statSync(path()).mode & 0o777).toBe(0o600);
  });

  test('that another program created becomes readable by its owner only [C14]', () => {
    const file = join(folder, 'a.log');
    writeFileSync(file, 'old\n');
    chmodSync(file, 0o644);
    new LogFile({ path: file, keep: 30 }, () => {}).write('new\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toBe('old\nnew\n');
  });

  test('with a rotation puts the lines of another day away, and forgets the oldest', () => {
    const file = new LogFile({ path: join(folder, 'a.log'), rotation: 'daily', keep: 30 }, () => {});
    const { time, stamp } = yesterday();
    writeFileSync(join(folder, 'a.log'), 'old\n');
    utimesSync(join(folder, 'a.log'), time, time);
    for (let day = 1; day <= 30; day++)
      writeFileSync(join(folder, `a.log.2001-01-${String(day).padStart(2, '0')}`), '');
    writeFileSync(join(folder, 'a.log.kept-by-hand'), '');
    file.write('new\n');
    expect(readFileSync(join(folder, 'a.log'), 'utf8')).toBe('new\n');
    expect(readFileSync(join(folder, `a.log.${stamp}`), 'utf8')).toBe('old\n');
    const names = readdirSync(folder);
    expect(names).not.toContain('a.log.2001-01-01');
    expect(names).toEqual(expect.arrayContaining(['a.log.2001-01-02', 'a.log.kept-by-hand']));
  });

  test('that reaches its size is rotated, and only `keep` old ones stay [C14]', () => {
    const file = new LogFile({ path: join(folder, 'a.log'), maxSize: 10, keep: 2 }, () => {});
    for (const line of ['one', 'two', 'three', 'four', 'five', 'six', 'seven']) file.write(`${line}\n`);
    const [newest, ...old] = readdirSync(folder).sort();
    expect(newest).toBe('a.log');
    const kept = [...old, 'a.log'].map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(kept).toEqual(['three\n', 'four\nfive\n', 'six\nseven\n']);
    for (const name of old) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  test('of two processes is rotated by the first that notices, and neither loses a line [C14]', () => {
    const settings = { path: join(folder, 'a.log'), rotation: 'daily', keep: 30 } as const;
    const [one, other] = [new LogFile(settings, () => {}), new LogFile(settings, () => {})];
    const { time, stamp } = yesterday();
    one.write('old of one\n');
    other.write('old of other\n');
    utimesSync(join(folder, 'a.log'), time, time);
    one.write('new of one\n');
    other.write('new of other\n');
    expect(readFileSync(join(folder, `a.log.${stamp}`), 'utf8')).toBe('old of one\nold of other\n');
    expect(readFileSync(join(folder, 'a.log'), 'utf8')).toBe('new of one\nnew of other\n');
  });

  test('that cannot be written is said once, and takes nothing down', () => {
    const problems: string[] = [];
    const settings = { path: '/proc/nowhere/deeper/a.log', rotation: 'hourly', keep: 30 } as const;
    const file = new LogFile(settings, (problem) => problems.push(problem));
    file.write('one\n');
    file.write('two\n');
    expect(problems).toEqual([expect.stringContaining('the log /proc/nowhere/deeper/a.log cannot be written')]);
  });
});
