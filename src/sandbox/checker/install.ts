import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HostError } from '../../domain/errors.js';
import { makeFolderSync } from '../../lib/files/make-folder.js';
import { TESTED_VERSION } from './compiler.js';

/**
 * Installs the tested TypeScript into our own folder with the user's npm, so the user's registry, proxy and certificates apply.
 * Nothing of the package is executed during the install.
 */
export async function installCompiler(folder: string, npm = 'npm'): Promise<void> {
  makeFolderSync(folder, 0o755);
  // Without a manifest npm would look for one in the parent folders.
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ name: 'codemode-checker', private: true })}\n`);
  const args = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact'];
  const child = spawn(npm, [...args, `typescript@${TESTED_VERSION}`], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-MAX_COMPLAINT_CHARACTERS);
  });
  const status = await new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve(signal ?? String(code)));
  });
  if (status === '0') return;
  const words = said.split('\n').filter((line) => /error/i.test(line));
  throw new HostError(
    'upstream_unavailable',
    `npm could not install typescript@${TESTED_VERSION} (${status}): ${words.join(' ')}`,
  );
}

const MAX_COMPLAINT_CHARACTERS = 2_000;
