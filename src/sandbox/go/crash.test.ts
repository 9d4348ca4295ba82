import { describe, expect, test } from 'vitest';
import { endedWith } from '../processes/process-failures.js';
import { crashOf } from './crash.js';

const MEGABYTE = 1024 * 1024;
const LIMIT = 64 * MEGABYTE;

function crash(stderr: string, peakMemoryBytes?: number) {
  const report = { stderr: { text: stderr, isCut: false, totalBytes: stderr.length }, exitCode: 2, peakMemoryBytes };
  return crashOf(report, endedWith(2), LIMIT);
}

describe('a Go program that ended with status 2', () => {
  test.each([
    ['says that it is out of memory', 'fatal error: runtime: out of memory\n\nruntime stack:\n', undefined],
    ['says nothing, after much memory', '', 60 * MEGABYTE],
    ['was hit by a signal, after much memory', 'SIGSEGV: segmentation violation\nPC=0x42e59d m=0', 60 * MEGABYTE],
  ])('is a memory limit if it %s', (_, stderr, peak) => {
    expect(crash(stderr, peak)).toMatchObject({ kind: 'limit', limit: 'memory' });
  });

  test.each([
    ['says nothing, after little memory', '', 10 * MEGABYTE],
    ['says nothing and was never measured', '', undefined],
    ['wrote something of its own', 'usage: program FILE\n', 60 * MEGABYTE],
  ])('has chosen that status if it %s', (_, stderr, peak) => {
    expect(crash(stderr, peak)).toEqual(endedWith(2));
  });

  test('is a panic with the line of the program if it says so', () => {
    const trace = 'panic: index out of range\n\ngoroutine 1 [running]:\nmain.Run()\n\t/program.go:7 +0x1d\n';
    expect(crash(trace)).toMatchObject({ kind: 'exception', name: 'panic', position: { line: 7, column: 1 } });
  });
});
