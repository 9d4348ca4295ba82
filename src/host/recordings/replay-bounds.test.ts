import { expect, test } from 'vitest';
import { MAXIMUM_LIMITS } from '../../domain/limits.js';
import { DEFAULT_PROCESS_LIMITS } from '../../domain/process-program.js';
import type { AnyRecording } from './recording.js';
import { withinBounds } from './replay-bounds.js';

const MOST = 1_000;
const bounds = {
  program: { ...MAXIMUM_LIMITS, timeoutMs: MOST, maxMemoryBytes: MOST },
  process: {
    node: { ...DEFAULT_PROCESS_LIMITS, maxDiskBytes: MOST, maxCpuMs: MOST },
    python: DEFAULT_PROCESS_LIMITS,
    go: DEFAULT_PROCESS_LIMITS,
  },
};
const HUGE = 1e15;

test('a recorded program gets its own limits, never more than the configuration allows', () => {
  const limits = { timeoutMs: HUGE, maxMemoryBytes: 10, maxLogBytes: HUGE, maxToolCalls: HUGE };
  const recording = { journal: { limits } } as unknown as AnyRecording;
  expect(withinBounds(recording, bounds)).toEqual({
    journal: {
      limits: {
        timeoutMs: MOST,
        maxMemoryBytes: 10,
        maxLogBytes: MAXIMUM_LIMITS.maxLogBytes,
        maxToolCalls: MAXIMUM_LIMITS.maxToolCalls,
      },
    },
  });
});

test('the same of a process, by its language; a limit that the recording leaves out is the bound', () => {
  const wished = Object.fromEntries(Object.keys(DEFAULT_PROCESS_LIMITS).map((name) => [name, HUGE]));
  const of = (language: string) => ({ program: { language, limits: wished } }) as unknown as AnyRecording;
  expect(withinBounds(of('node'), bounds)).toEqual({ program: { language: 'node', limits: bounds.process.node } });
  expect(withinBounds(of('go'), bounds)).toEqual({ program: { language: 'go', limits: DEFAULT_PROCESS_LIMITS } });
});
