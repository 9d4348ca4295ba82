// @ts-check
// The peers are packages of this folder, with their own lockfile: the product's `npm ci` never sees them.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const SMALL = ['json-schema-to-typescript', 'quickjs-emscripten', 'run'];
/** Optional dependencies of the folder: they are fetched only when asked for. */
const LARGE = ['workerd'];

/**
 * Installs what is not there yet.
 *
 * @param {boolean} withLarge
 * @returns {Promise<Record<string, string>>} why a peer is not there, by its name; empty when all are
 */
export async function installPeers(withLarge) {
  const wanted = withLarge ? [...SMALL, ...LARGE] : SMALL;
  const missing = () => wanted.filter((name) => !existsSync(join(FOLDER, 'node_modules', name, 'package.json')));
  if (missing().length === 0) return {};
  console.log(`installing the peers into bench/peers, once (${wanted.join(', ')}) ...`);
  // No scripts: all of them are plain files, workerd's binary included.
  const npm = [
    'ci',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    withLarge ? '--include=optional' : '--omit=optional',
  ];
  const { status, stderr, error } = spawnSync('npm', npm, { cwd: FOLDER, encoding: 'utf8' });
  const reason = error?.message ?? (status === 0 ? 'npm left it out' : lastError(stderr));
  return Object.fromEntries(missing().map((name) => [name, reason]));
}

function lastError(stderr) {
  const lines = stderr.split('\n').filter((line) => /^npm (error|ERR!)/.test(line));
  return lines[0]?.replace(/^npm (error|ERR!)\s*/, '') ?? 'npm ci failed';
}
