import { expect, test } from 'vitest';
import { HostError } from '../../domain/errors.js';
import { type EndedFailure, type Failure, outOfTime } from '../../domain/run.js';
import type { ProcessRunSummary } from '../../host/processes/process-run.js';
import { renderHostError, renderProgram } from './render.js';

const kept = (text: string) => ({ text, isCut: false, totalBytes: text.length });
const ended = (printed: string, logged = '', failure?: Failure) =>
  renderProgram({
    outcome: failure === undefined ? { status: 'completed', resultJson: 'null' } : { status: 'failed', failure },
    stdout: kept(printed),
    stderr: kept(logged),
  } as ProcessRunSummary).output;
const exception = (name: string, message: string): Failure => ({ kind: 'exception', name, message });

test("a program's output is returned unchanged, followed by its log", () => {
  expect(ended('')).toBe('');
  expect(ended('no end of line')).toBe('no end of line');
  expect(ended('printed', 'logged\n')).toBe('printed\nlogged\n');
});

test('a call that may have taken effect is to be checked first', () => {
  const unsure: EndedFailure = { ...outOfTime(5), unfinished: ['shop/pay'] };
  expect(ended('', '', unsure)).toMatch(/\nFirst check whether shop\/pay took effect: .*\n$/);
});

test('why it failed begins a line of its own', () => {
  expect(ended('printed', '', exception('error', 'went wrong'))).toBe('printed\nerror: went wrong\n');
  expect(ended('', '', outOfTime(5))).toMatch(/^stopped: the program was stopped after 5 ms\. Do less/);
  expect(ended('', '', { kind: 'syntax', name: 'CompileError', message: 'program.go:1:1: no' })).toBe(
    'compile error, nothing has run:\nprogram.go:1:1: no\n',
  );
});

test('a compile error is followed by what to write instead', () => {
  const hint = 'Assign it to a variable.';
  expect(ended('', '', { kind: 'syntax', name: 'CompileError', message: 'program.go:1:1: no', hint })).toBe(
    `compile error, nothing has run:\nprogram.go:1:1: no\n${hint}\n`,
  );
});

test('a crash is reported once, and output that looks like a crash is kept', () => {
  const crash = 'logged\npanic: x\n\ngoroutine 1 [running]:\nmain.main()\n';
  expect(ended('', crash, exception('panic', 'x'))).toBe('logged\npanic: x\n');
  expect(ended('', 'no panic: here', exception('panic', 'x'))).toBe('no panic: here\npanic: x\n');
});

test('a line is named once, though the goroutine that crashed there was started there too', () => {
  const stack = 'program.go:3\nprogram.go:7\nprogram.go:3';
  expect(ended('', '', { ...exception('panic', 'x'), stack })).toBe('panic: x\nat program.go:3\nat program.go:7\n');
});

test('output that was cut says so', () => {
  const stdout = { text: 'abc', isCut: true, totalBytes: 900 };
  const outcome = { status: 'completed', resultJson: 'null' } as const;
  expect(renderProgram({ outcome, stdout, stderr: kept('') } as ProcessRunSummary).output).toBe(
    'abc\n<output cut: the program printed 900 bytes; print less>',
  );
});

test("the host's own failures say whether to try again", () => {
  expect(renderHostError(new HostError('sandbox_busy', 'full')).output).toBe('full. Send the same request again.\n');
  expect(renderHostError(new HostError('bad_input', 'code: is empty')).output).toBe(
    'code: is empty. Nothing has run.\n',
  );
});
