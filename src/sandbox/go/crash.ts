import type { ProcessReport } from '../../domain/process-program.js';
import type { Failure } from '../../domain/run.js';
import { tooManyThreads, tooMuchMemory } from '../processes/process-failures.js';

const MAX_MESSAGE_CHARACTERS = 2_000;
const MAX_FRAMES = 20;

/**
 * A goroutine that panics ends the program at once, with a trace on stderr as its last output, which is read here. The program
 * could have written the trace itself. It is believed, because it concerns only the program.
 */
export function crashOf(
  { stderr, exitCode, peakMemoryBytes = 0 }: Pick<ProcessReport, 'stderr' | 'exitCode' | 'peakMemoryBytes'>,
  failure: Failure,
  maxMemoryBytes: number,
): Failure {
  if (exitCode !== 2 || failure.kind !== 'exception') return failure;
  const text = stderr.text;
  const start = Math.max(text.lastIndexOf('\npanic: ') + 1, text.startsWith('panic: ') ? 0 : -1, fatal(text));
  const [first = ''] = start < 0 ? [] : text.slice(start).split('\n', 1);
  const [, kind, message] = /^(panic|fatal error): (.*)$/.exec(first) ?? [];
  if (kind === undefined || message === undefined)
    return isRuntimeCrash(text) && peakMemoryBytes > maxMemoryBytes / 2 ? tooMuchMemory(maxMemoryBytes) : failure;
  if (/out of memory|cannot allocate memory/.test(message)) return tooMuchMemory(maxMemoryBytes);
  if (message === 'newosproc') return tooManyThreads();
  const frames = [...text.slice(start).matchAll(/^\s*\/program\.go:(\d+)/gm)].slice(0, MAX_FRAMES);
  const line = Number(frames[0]?.[1] ?? 0);
  return {
    kind: 'exception',
    name: kind,
    message: message.slice(0, MAX_MESSAGE_CHARACTERS),
    ...(frames.length === 0 ? {} : { stack: frames.map(([, number]) => `program.go:${number}`).join('\n') }),
    ...(line === 0 ? {} : { position: { line, column: 1 } }),
  };
}

/**
 * About once in two hundred times the runtime does not survive its own "out of memory": it writes that it was hit by a signal, or
 * nothing at all.
 */
function isRuntimeCrash(text: string): boolean {
  return text === '' || text.startsWith('SIGSEGV: ');
}

function fatal(text: string): number {
  if (text.startsWith('fatal error: ')) return 0;
  const at = text.lastIndexOf('\nfatal error: ');
  return at < 0 ? -1 : at + 1;
}
