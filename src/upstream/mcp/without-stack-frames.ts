/**
 * The stderr of a crashed server without the stack frames of Node and Python: only the end is shown, and the error stands before
 * Node's frames and after Python's. For a line that was overwritten, as by a progress bar, keeps what a terminal finally shows.
 */
export function withoutStackFrames(stderr: string): string {
  const kept: string[] = [];
  let isInFrame = false;
  for (const line of stderr.split('\n')) {
    // A frame of Python is followed by its line of code and marks under it, both further in.
    isInFrame = PYTHON_FRAME.test(line) || (isInFrame && PYTHON_CODE.test(line));
    if (isInFrame || FRAME.test(line) || PYTHON_TITLE.test(line)) continue;
    const ended = line.replace(/\r+$/, '');
    kept.push(ended.slice(ended.lastIndexOf('\r') + 1));
  }
  return kept.join('\n');
}

/** `    at load (node:internal/modules/loader:1188:11)`, also for async functions and getters. */
const FRAME = /^\s{2,}at \S.{0,500}:\d+:\d+\)?(?: \{)?\s*$/;

/** `  File "/srv/a.py", line 3, in main`, also inside the box of an exception group. Without `in` it is the place of a syntax error. */
const PYTHON_FRAME = /^[ |]{2,200}File ".{1,500}", line \d+, in \S.{0,500}$/;
const PYTHON_CODE = /^[ |]{0,200} {4,}\S/;
const PYTHON_TITLE = /^[ |+]{0,200}(?:Exception Group )?Traceback \(most recent call last\):\s*$/;
