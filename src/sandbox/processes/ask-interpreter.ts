import { execFile } from 'node:child_process';

const ANSWER_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 16 * 1024;

/** Starts an interpreter of the machine once, outside any jail, with our own query; undefined if it fails. */
export function askInterpreter(
  path: string,
  question: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { timeout: ANSWER_TIMEOUT_MS, maxBuffer: MAX_ANSWER_BYTES, killSignal: 'SIGKILL' } as const;
    const where = env === undefined ? {} : { env: { ...env }, cwd: '/' };
    try {
      const child = execFile(path, [...question], { ...options, ...where }, (error, stdout) =>
        resolve(error === null ? stdout.trim() : undefined),
      );
      child.stdin?.end();
    } catch {
      resolve(undefined);
    }
  });
}
