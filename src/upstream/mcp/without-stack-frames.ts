/** What a crashed server wrote, without the stack frames of Node: only the end is shown, and the error stands before them. */
export function withoutStackFrames(stderr: string): string {
  return stderr
    .split('\n')
    .filter((line) => !FRAME.test(line))
    .join('\n');
}

/** `    at load (node:internal/modules/loader:1188:11)`, and the same of async functions and getters. */
const FRAME = /^\s{2,}at \S.{0,500}:\d+:\d+\)?(?: \{)?\s*$/;
