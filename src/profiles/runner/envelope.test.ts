import { expect, test } from 'vitest';
import type { KeptOutput } from '../../domain/process-program.js';
import type { ProcessRunSummary } from '../../host/process-run.js';
import { printedBy, Ticket } from './envelope.js';

const kept = (text: string, isCut = false): KeptOutput => ({ text, isCut, totalBytes: text.length });
const printed = (stdout: KeptOutput, stderr: KeptOutput, most: number) =>
  printedBy({ stdout, stderr } as ProcessRunSummary, most);

test('what is printed is passed on whole up to the limit, and ends with a mark where it was cut [B7]', () => {
  expect(printed(kept(''), kept(''), 100)).toBe('');
  expect(printed(kept('out'), kept('err'), 8)).toBe('out\nerr\n');
  expect(printed(kept('out'), kept('err', true), 100)).toBe('out\nerr\n<TRUNCATED>\n');
  const cut = printed(kept(''), kept('ü'.repeat(100)), 30);
  expect(cut).toBe(`${'ü'.repeat(8)}\n<TRUNCATED>\n`);
  expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(30);
});

test('a result that is nested too deeply to be written is an error of the program [B3]', () => {
  const resultJson = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
  const summary = { outcome: { status: 'completed', resultJson }, durationMs: 1, approvalState: 'NOT_REQUIRED' };
  const { result } = new Ticket('node').ended(summary as ProcessRunSummary, 100_000).envelope;
  expect(result).toMatchObject({ ok: false, error: { type: 'NotSerializable' } });
});
