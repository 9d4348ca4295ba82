import { plain } from './terminal.js';

/** Lines for people, on standard error. A client that has closed its end of it must not take the program down. */
export function openLog(): (line: string) => void {
  process.stderr.on('error', () => {});
  return (line) => process.stderr.write(`codemode: ${plain(line)}\n`);
}
