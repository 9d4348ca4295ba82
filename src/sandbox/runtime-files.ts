import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import * as z from 'zod';
import { HostError } from '../domain/errors.js';
import type { ProcessLanguage } from '../domain/process-program.js';
import type { WorkerRole } from '../wire/messages.js';

/** The folder of the files inside a jail. */
export const JAIL_FOLDER = '/codemode';
const ADDON = `${JAIL_FOLDER}/transform.node`;

export interface RuntimeFiles {
  readonly build: string;
  /** Sources of the library that Go programs are linked with, and of the builder. */
  readonly goFolder: string;
  /** The digest of the Go sources alone: most builds leave them unchanged. */
  readonly goDigest: string;
  /** The complete list of mounts for a role. */
  readonly mounts: Readonly<Record<Role, readonly { readonly from: string; readonly to: string }[]>>;
  /** The interpreter's arguments: the entry, then the paths that the entry needs. */
  readonly arguments: Readonly<Record<Role, readonly string[]>>;
}

type Role = WorkerRole | ProcessLanguage;

const MOUNTED: Readonly<Record<Role, readonly string[]>> = {
  quickjs: ['worker.js', 'returns.cjs', 'quickjs.wasm', 'image.bin', 'package.json'],
  v8: ['v8-main.cjs', 'v8-worker.js', 'returns.cjs', 'v8-boot.js', 'intrinsics.json', 'package.json'],
  node: ['node-program.js', 'package.json'],
  python: [
    'python/main.py',
    'python/check_calls.py',
    'python/codemode_client.py',
    'python/failures.py',
    'python/frames.py',
    'python/text_data.py',
  ],
};

const manifestSchema = z.object({ build: z.string(), files: z.record(z.string(), z.string()) });

/** Finds the worker's files and checks each against its hash from the build. A worker with other files is not started. */
export function loadRuntimeFiles(folder: string): RuntimeFiles {
  const manifestFile = join(folder, 'manifest.json');
  if (!existsSync(manifestFile))
    throw new HostError('internal', `the worker is not built: ${manifestFile} is missing; run \`npm run build\``);
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(manifestFile, 'utf8')));
  for (const [name, expected] of Object.entries(manifest.files)) {
    const actual = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
    if (actual !== expected)
      throw new HostError('internal', `${join(folder, name)} is not the file that was built; run \`npm run build\``);
  }
  const mount = (name: string) => ({ from: join(folder, name), to: `${JAIL_FOLDER}/${name}` });
  const addon = { from: parserAddon(), to: ADDON };
  return {
    build: manifest.build,
    goFolder: join(folder, 'go'),
    goDigest: goDigestOf(manifest.files),
    mounts: {
      quickjs: [...MOUNTED.quickjs.map(mount), addon],
      v8: [...MOUNTED.v8.map(mount), addon],
      node: [...MOUNTED.node.map(mount), addon],
      python: MOUNTED.python.map(mount),
    },
    arguments: {
      quickjs: [`${JAIL_FOLDER}/worker.js`, ADDON],
      v8: [`${JAIL_FOLDER}/v8-main.cjs`, ADDON],
      node: [`${JAIL_FOLDER}/node-program.js`, ADDON],
      python: [`${JAIL_FOLDER}/python/main.py`],
    },
  };
}

function goDigestOf(files: Readonly<Record<string, string>>): string {
  const own = Object.entries(files).filter(([name]) => name.startsWith('go/'));
  return createHash('sha256').update(JSON.stringify(own.sort())).digest('hex');
}

/** The native part of oxc-transform for this machine. npm installs the optional dependency that fits. */
function parserAddon(): string {
  const require = createRequire(import.meta.url);
  for (const libc of ['gnu', 'musl']) {
    const name = `linux-${process.arch}-${libc}`;
    try {
      return require.resolve(`@oxc-transform/binding-${name}/transform.${name}.node`);
    } catch {
      // Built for another C library: the other package may be installed.
    }
  }
  throw new HostError(
    'internal',
    `the package @oxc-transform/binding-linux-${process.arch}-gnu or -musl is missing; install codemode again on this machine, without --omit=optional`,
  );
}
