import { expect, test } from 'vitest';
import { parseLibraryList } from './libraries.js';
import { chooseUids, codeReserve, parseHardLimits } from './machine.js';

const WHOLE_MACHINE = '         0          0 4294967295\n';

test('workers get uids far from all that are handed out', () => {
  expect(chooseUids(WHOLE_MACHINE, WHOLE_MACHINE)).toEqual({ first: 2_000_000_000, count: 100_000_000 });
});

test('in a container with a small id map they come from its upper end', () => {
  const map = '0 1000 1\n1 100000 65536\n';
  expect(chooseUids(map, map)).toEqual({ first: 61_535, count: 4_000 });
});

test('root without other uids has none to give', () => {
  expect(chooseUids('0 1000 1\n', '0 1000 1\n')).toBeUndefined();
  expect(chooseUids(undefined, undefined)).toBeUndefined();
});

test('only finite hard limits are remembered', () => {
  const text = `Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max open files            1024                 20000                files
Max processes             100                  200                  processes
`;
  expect([...parseHardLimits(text)]).toEqual([
    ['Max open files', 20_000],
    ['Max processes', 200],
  ]);
});

test('the address space Node 24 reserves for machine code is counted; Node 20 reserves none', () => {
  expect(codeReserve('7f0000000000-7f001fd80000 rwxp 00000000 00:00 0\n')).toBe(512 * 1024 * 1024);
  expect(
    codeReserve('7f0000000000-7f000003c000 rwxp 00000000 00:00 0\n7f1000000000-7f101fd80000 ---p 00000000 00:00 0\n'),
  ).toBe(0);
});

test('a library that the loader does not find stops the jail', () => {
  expect(() => parseLibraryList('\tlibfoo.so.1 => not found\n')).toThrow(/libfoo.so.1 is missing/);
  expect(parseLibraryList('\tlinux-vdso.so.1 (0x00007ffc)\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n')).toEqual([]);
});
