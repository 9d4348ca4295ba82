import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findSuite } from '../mcp-suite/install.mjs';
import { registryEnvironment } from './registry.js';

/** Kept between runs of the tests, and out of reach of `npm ci`: a release is 50 MB to fetch and six seconds of a core to unpack. */
const FOLDER = join(tmpdir(), 'codemode-test-nodes');

/** Node of a version or of a major version: one that is here already, else the npm package of Node's own release. */
export function nodeRelease(version: string): string {
  if (process.versions.node.split('.')[0] === version) return process.execPath;
  const suite = findSuite();
  if (suite.isThere && versionOf(suite.node).split('.')[0] === version) return suite.node;
  const folder = join(FOLDER, version);
  const binary = join(folder, `node_modules/node-linux-${process.arch}/bin/node`);
  if (!existsSync(binary)) {
    mkdirSync(folder, { recursive: true });
    const words = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
    const env = { ...process.env, ...registryEnvironment() };
    execFileSync('npm', [...words, `node-linux-${process.arch}@${version}`], { env, stdio: 'pipe' });
  }
  return binary;
}

function versionOf(node: string): string {
  return execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim();
}
