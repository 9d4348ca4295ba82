// @ts-check
// Both ends of a group's process: `runGroup` starts it, and what is below answers when this file is the one started.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isMain } from '../scripts/repository.mjs';

/** The slowest group takes two minutes on two busy cores. */
const GROUP_TIMEOUT_MS = 900_000;

/**
 * @param {string} name
 * @param {object} settings
 * @param {{ folder?: string, timeoutMs?: number }} [place] of the group's file, and how long it may take
 * @returns {Promise<import('./table.mjs').Row[]>} the group's rows; a group that breaks gives one row that says why
 */
export function runGroup(name, settings, { folder = 'groups', timeoutMs = GROUP_TIMEOUT_MS } = {}) {
  return new Promise((resolve) => {
    const failed = (reason) => resolve([{ name, failed: true, note: `FAILED: ${reason}` }]);
    const child = fork(fileURLToPath(import.meta.url), [`${folder}/${name}`, JSON.stringify(settings)], {
      execArgv: ['--expose-gc'],
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    child.once('message', (/** @type {any} */ { rows, error }) =>
      error === undefined ? resolve(rows) : failed(error),
    );
    child.once('error', (error) => failed(error.message));
    child.once('exit', (status, signal) => {
      clearTimeout(timer);
      failed(`its process ended with ${signal ?? `status ${status}`}`);
    });
  });
}

if (isMain(import.meta.url)) {
  const [name, settings = '{}'] = process.argv.slice(2);
  let answer;
  try {
    const { measure } = await import(`./${name}.mjs`);
    answer = { rows: await measure(JSON.parse(settings)) };
  } catch (error) {
    answer = { error: error.stack ?? String(error) };
  }
  process.send?.(answer, () => process.exit());
}
