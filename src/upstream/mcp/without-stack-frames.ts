/**
 * The stderr of a crashed server without Node's stack frames: only the end is shown, and the error stands before the frames. For a
 * line that was overwritten, as by a progress bar, keeps what a terminal finally shows.
 */
export function withoutStackFrames(stderr: string): string {
  return stderr
    .split('\n')
    .filter((line) => !FRAME.test(line))
    .map((line) => line.replace(/\r+$/, ''))
    .map((line) => line.slice(line.lastIndexOf('\r') + 1))
    .join('\n');
}

/** `    at load (node:internal/modules/loader:1188:11)`, also for async functions and getters. */
const FRAME = /^\s{2,}at \S.{0,500}:\d+:\d+\)?(?: \{)?\s*$/;
