import { expect, test } from 'vitest';
import type { KeptOutput } from '../../domain/process-program.js';
import type { ProcessRunSummary } from '../../host/processes/process-run.js';
import { excerptOf, printedBy } from './printed.js';

const kept = (text: string, isCut = false): KeptOutput => ({ text, isCut, totalBytes: text.length });
const FAILED = { status: 'failed', failure: { kind: 'exception', name: 'E', message: 'm', stack: 'E: m\n  at 1' } };
const printed = (stdout: KeptOutput, stderr: KeptOutput, most: number, outcome: object = { status: 'completed' }) =>
  printedBy({ stdout, stderr, outcome } as ProcessRunSummary, most);

test('what is printed is passed on whole up to the limit, and ends with a mark where it was cut [B7]', () => {
  expect(printed(kept(''), kept(''), 100)).toBe('');
  expect(printed(kept('out'), kept('err'), 8)).toBe('out\nerr\n');
  expect(printed(kept('out'), kept('err', true), 100)).toBe('out\nerr\n<TRUNCATED>\n');
  const cut = printed(kept(''), kept('ü'.repeat(100)), 60);
  expect(cut).toMatch(/^ü+\n<TRUNCATED>\n$/);
  expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(60);
});

test('each output has a budget of its own, and gets what the other does not need [B7]', () => {
  const both = printed(kept('o'.repeat(5_000)), kept('e'.repeat(5_000)), 1_000);
  expect(both).toMatch(/^o{200,}\n<TRUNCATED>\ne{600,}\n<TRUNCATED>\n$/);
  expect(both.length).toBeLessThanOrEqual(1_000);
  const mostlyOut = printed(kept('o'.repeat(5_000)), kept('a line'), 1_000);
  expect(mostlyOut).toMatch(/^o{900,}\n<TRUNCATED>\na line\n<TRUNCATED>\n$/);
  expect(mostlyOut.length).toBeLessThanOrEqual(1_000);
});

test('a traceback that was cut from stderr follows the truncation mark [B7]', () => {
  const text = printed(kept(''), kept('e'.repeat(5_000), true), 400, FAILED);
  expect(text).toMatch(/^e+\n<TRUNCATED>\nE: m\n {2}at 1\n<TRUNCATED>\n$/);
  expect(text.length).toBeLessThanOrEqual(400);
  expect(printed(kept(''), kept('noise\nE: m\n  at 1\n'), 400, FAILED)).toBe('noise\nE: m\n  at 1\n');
});

test('a traceback with a single frame is left out when the error already says it', () => {
  const position = { line: 2, column: 1 };
  const excerpt = (stack: string, more: object = { position }) =>
    excerptOf(
      {
        stdout: kept('out\n'),
        stderr: kept(`err\n${stack}\n`),
        outcome: { status: 'failed', failure: { ...FAILED.failure, stack, ...more } },
      } as ProcessRunSummary,
      1_000,
    );
  expect(excerpt('E: m\n    at 1')).toBe('out\nerr\n');
  expect(excerpt('E: m\n    at 1\n    at 2')).toBe('out\nerr\nE: m\n    at 1\n    at 2\n');
  expect(excerpt('E: m\n    at 1', { position: undefined })).toContain('at 1');
  expect(excerpt('E: m\n    at 1', { position, kind: 'syntax' })).toContain('at 1');
});
