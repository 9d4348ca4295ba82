import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../domain/limits.js';
import type { Outcome, RunId } from '../../domain/run.js';
import { openJournal } from '../../sandbox/journal/journal.js';
import { encodeRecording, type Recording, recordingIn, storedRecording } from './recording.js';

const MODULES = [
  { specifier: '@codemode/servers/notes', exports: [{ kind: 'call', name: 'add', target: 'notes/add' }] },
];

function recordingOf(body: Buffer): Recording {
  const program = { source: 'add({})', language: 'javascript', modules: MODULES, limits: DEFAULT_LIMITS } as never;
  const journal = openJournal('run' as RunId, program, '1', 1_000);
  journal.deliveries.push({ kind: 'result', call: 1 as never, atMs: 1_001, body });
  const outcome: Outcome = { status: 'completed', resultJson: '1' };
  const environment = { build: 'b', node: 'n', isolation: 'i' };
  return { runId: 'run', caller: 'me', codeDigest: 'd', environment, journal, calls: [], outcome };
}

test('a stored recording is read with the modules that it shares, as if they were its own', () => {
  const recording = recordingOf(Buffer.from('"answer"'));
  const stored = storedRecording(recording);
  expect(stored?.recordingJson).not.toContain('notes/add');
  expect(storedRecording(recordingOf(Buffer.from('1')))?.modules).toBe(stored?.modules);
  const read = recordingIn({ json: stored?.recordingJson ?? '', modulesJson: stored?.modules?.json });
  expect(JSON.parse(encodeRecording(read))).toEqual(JSON.parse(encodeRecording(recording)));
});

test('a recording of an older version is read with its own modules', () => {
  const recording = recordingOf(Buffer.from('"answer"'));
  const read = recordingIn({ json: encodeRecording(recording), modulesJson: undefined });
  expect((read as Recording).journal.modules).toEqual(MODULES);
});

test('answers that are too large are not recorded', () => {
  expect(storedRecording(recordingOf(Buffer.alloc(9 * 1024 * 1024)))).toBeUndefined();
});
