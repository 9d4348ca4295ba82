// @ts-check
// Installs the public MCP conformance suite beside this file, once for each state of package-lock.json. `npm test` does
// it; without the npm registry, the tests that need the suite are skipped and say so.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const PACKAGES = join(FOLDER, 'node_modules');
const STAMP = join(PACKAGES, '.installed');
const INSTALL_TIMEOUT_MS = 300_000;
/** The suite imports `globSync` from `node:fs`. */
const LOWEST_NODE = 22;

/**
 * @typedef {{ isThere: true, node: string, packages: string }} Suite the Node that runs it, and its node_modules
 * @typedef {{ isThere: false, reason: string }} NoSuite
 */

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(report(installSuite()));

/** Looks, and changes nothing. @returns {Suite | NoSuite} */
export function findSuite() {
  const node = suitableNode();
  if (node === undefined) {
    return { isThere: false, reason: `the MCP conformance suite needs Node ${LOWEST_NODE}; run the tests with that` };
  }
  if (installedStamp() !== wantedStamp() || !existsSync(node)) {
    const reason = 'the MCP conformance suite is not installed; type: node test/mcp-suite/install.mjs';
    return { isThere: false, reason };
  }
  return { isThere: true, node, packages: PACKAGES };
}

/** Installs what is missing. @returns {Suite | NoSuite} */
export function installSuite() {
  const found = findSuite();
  if (found.isThere || suitableNode() === undefined) return found;
  const omit = hasSuitableNode() ? ['--omit=optional'] : [];
  const command = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...omit];
  const { error, status, stderr } = spawnSync('npm', command, {
    cwd: FOLDER,
    encoding: 'utf8',
    timeout: INSTALL_TIMEOUT_MS,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (status !== 0) {
    const detail = stderr?.match(/^npm error (.+)$/m)?.[1] ?? error?.message ?? `npm ended with status ${status}`;
    return { isThere: false, reason: `the MCP conformance suite could not be installed: ${detail}` };
  }
  writeFileSync(STAMP, wantedStamp());
  return findSuite();
}

/** One line for people. @param {Suite | NoSuite} suite */
export function report(suite) {
  return suite.isThere ? 'mcp conformance suite: ok' : `${suite.reason}\n  its tests will be skipped`;
}

/** Ours where it is new enough; else the one that comes as an npm package. */
function suitableNode() {
  if (hasSuitableNode()) return process.execPath;
  const isPackaged = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);
  return isPackaged ? join(PACKAGES, `node-linux-${process.arch}/bin/node`) : undefined;
}

function hasSuitableNode() {
  return Number.parseInt(process.versions.node, 10) >= LOWEST_NODE;
}

function installedStamp() {
  return existsSync(STAMP) ? readFileSync(STAMP, 'utf8') : undefined;
}

function wantedStamp() {
  return createHash('sha256')
    .update(readFileSync(join(FOLDER, 'package-lock.json')))
    .digest('hex');
}
