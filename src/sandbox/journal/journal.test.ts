import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../domain/limits.js';
import type { Program, RunId } from '../../domain/run.js';
import { clockRecordOf, decodeJournal, digestOf, encodeJournal, openJournal } from './journal.js';

const PROGRAM: Program = {
  source: "const ü = '🎉\u2028';",
  language: 'typescript',
  modules: [
    { specifier: '@codemode/servers/a', exports: [{ kind: 'value', name: 'meta', value: { deep: [1, null] } }] },
  ],
  limits: DEFAULT_LIMITS,
};
const RUN = 'run-1' as RunId;

test('a journal opens empty, with everything that decides how the program runs', () => {
  expect(openJournal(RUN, PROGRAM, '42', 1_700_000_000_000)).toEqual({
    ...PROGRAM,
    runId: RUN,
    blocking: false,
    seed: '42',
    startedAtMs: 1_700_000_000_000,
    clock: 'moving',
    deliveries: [],
    calls: [],
  });
  expect(openJournal(RUN, { ...PROGRAM, blocking: true }, '42', 0).blocking).toBe(true);
});

test('a journal survives being written and read: every byte of every delivery, in order', () => {
  const journal = openJournal(RUN, PROGRAM, '18446744073709551615', 1);
  const everyByte = Uint8Array.from({ length: 256 }, (_, index) => index);
  journal.deliveries.push(
    { kind: 'result', call: 2, atMs: 5, body: everyByte },
    { kind: 'timer', atMs: 6 },
    { kind: 'clock', atMs: 6, reads: 9, ticks: [3, 4, 8, 5] },
    { kind: 'error', call: 1, atMs: 6, body: new Uint8Array() },
  );
  journal.calls.push({ target: 'a/b', argumentsDigest: digestOf('[]') });
  const read = decodeJournal(encodeJournal(journal));
  expect({ ...read, deliveries: [] }).toEqual({ ...journal, deliveries: [] });
  const plain = (delivery: object) =>
    'body' in delivery ? { ...delivery, body: [...(delivery.body as Buffer)] } : delivery;
  expect(read.deliveries.map(plain)).toEqual(journal.deliveries.map(plain));
});

test('writing a journal leaves it as it was', () => {
  const journal = openJournal(RUN, PROGRAM, '1', 1);
  const body = Buffer.from('[1]');
  journal.deliveries.push({ kind: 'result', call: 1, atMs: 2, body });
  encodeJournal(journal);
  expect(journal.deliveries).toEqual([{ kind: 'result', call: 1, atMs: 2, body }]);
});

test('a digest is SHA-256 of the bytes, the same for a text and its UTF-8', () => {
  expect(digestOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(digestOf('Grüße')).toBe(digestOf(Buffer.from('Grüße', 'utf8')));
});

test('the clock record of a journal is that of all its entries, or of those after an image', () => {
  const journal = openJournal(RUN, PROGRAM, '1', 1);
  expect(clockRecordOf(journal)).toEqual({ reads: 0, ticks: [] });
  journal.deliveries.push(
    { kind: 'clock', atMs: 1, reads: 3, ticks: [2, 10] },
    { kind: 'timer', atMs: 20 },
    { kind: 'clock', atMs: 20, reads: 7, ticks: [4, 30, 6, 31] },
  );
  expect(clockRecordOf(journal)).toEqual({ reads: 7, ticks: [2, 10, 4, 30, 6, 31] });
  expect(clockRecordOf(journal, 2)).toEqual({ reads: 7, ticks: [4, 30, 6, 31] });
  expect(clockRecordOf(journal, 3)).toEqual({ reads: 0, ticks: [] });
  const { clock: _, ...older } = journal;
  expect(clockRecordOf(older)).toBeNull();
});
