/**
 * What a crashed server wrote, without the stack frames of Node: only the end is shown, and the error stands before them. Of a
 * line that was written over itself, as a progress bar does, what a terminal shows in the end.
 */
export function withoutStackFrames(stderr: string): string {
  return stderr
    .split('\n')
    .filter((line) => !FRAME.test(line))
    .map((line) => line.replace(/\r+$/, ''))
    .map((line) => line.slice(line.lastIndexOf('\r') + 1))
    .join('\n');
}

/** `    at load (node:internal/modules/loader:1188:11)`, and the same of async functions and getters. */
const FRAME = /^\s{2,}at \S.{0,500}:\d+:\d+\)?(?: \{)?\s*$/;
