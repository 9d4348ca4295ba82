// @ts-check
// Shared by the scripts: paths of the repository, and how a step is run and shown.
import { spawn } from 'node:child_process';
import { readdirSync, realpathSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root, without a trailing slash. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

/** Machine-made files that are not part of the build: compiler state and test reports. */
export const CACHE = join(ROOT, 'node_modules', '.cache', 'codemode');

/** A tool of node_modules as the arguments of `node`: needs no PATH and no shell. */
export const TOOLS = {
  biome: join(ROOT, 'node_modules/@biomejs/biome/bin/biome'),
  // The native compiler: the types of the host in 12 s of CPU time instead of 40.
  tsc: join(ROOT, 'node_modules/typescript-native/bin/tsc'),
  vitest: join(ROOT, 'node_modules/vitest/vitest.mjs'),
};

/**
 * Every file under `folder` (relative to `root`) whose name ends in one of `endings`: paths from `root`, with
 * slashes, sorted. A folder that is not there is empty.
 *
 * @param {string} folder
 * @param {readonly string[]} endings
 * @param {string} root
 */
export function listFiles(folder, endings, root = ROOT) {
  const found = [];
  const walk = (directory) => {
    for (const entry of readDirectory(directory)) {
      if (entry.name === 'node_modules') continue;
      const path = join(directory, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (endings.some((ending) => entry.name.endsWith(ending))) {
        found.push(relative(root, path).split(sep).join('/'));
      }
    }
  };
  walk(join(root, folder));
  return found.sort();
}

/** Of work that takes what other processes leave of the cores. */
const LOW_PRIORITY = 10;

/**
 * Runs `node ...args` from the root. With `quiet`, what it prints is kept and returned; without, it is passed on. With `isBeside`,
 * it takes what other processes leave of the cores.
 *
 * @param {readonly string[]} args
 * @param {{ quiet?: boolean, isBeside?: boolean, env?: Record<string, string> }} options
 * @returns {Promise<{ ok: boolean, output: string }>}
 */
export function runNode(args, { quiet = false, isBeside = false, env = {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    });
    // Before it has started anything: children inherit it.
    if (isBeside && child.pid !== undefined) setPriority(child.pid, LOW_PRIORITY);
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ ok: code === 0, output }));
  });
}

/**
 * Runs the steps in their order, so many at once, prints one line each, and the whole output of those that failed.
 *
 * @param {readonly { name: string, run: () => Promise<{ ok: boolean, output: string }> }[]} steps
 * @returns {Promise<string[]>} names of the steps that failed
 */
export async function runSteps(steps, parallel = 1) {
  const waiting = [...steps];
  const failed = [];
  const runNext = async () => {
    const step = waiting.shift();
    if (step === undefined) return;
    const { name, run } = step;
    const start = performance.now();
    const { ok, output } = await run();
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${ok ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
    if (!ok) {
      failed.push(name);
      console.log(output.trimEnd().replace(/^/gm, '       '));
    }
    await runNext();
  };
  await Promise.all(Array.from({ length: parallel }, runNext));
  return failed;
}

function readDirectory(directory) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

/** Whether the module with this `import.meta.url` is the one that was started, through a link or not. */
export function isMain(moduleUrl) {
  return process.argv[1] !== undefined && fileURLToPath(moduleUrl) === realpathSync(process.argv[1]);
}
