import { dirname, resolve } from 'node:path';
import { HostError } from '../domain/errors.js';
import { readRegularFile } from '../lib/files/read-regular-file.js';
import type { LoadedConfig } from './load.js';
import type { Environment } from './variables/environment.js';

/** The database that hosts share, as it is configured. */
export interface SharedStore {
  readonly url: string;
  readonly leaseMs: number;
  readonly maxConnections: number;
  /** The key that the hosts share. Throws `bad_config`. */
  readonly key: () => Promise<Uint8Array>;
}

const KEY_BYTES = 32;
const MAX_KEY_FILE_BYTES = 1_024;
const MAKE_KEY = 'make one with: openssl rand -base64 32';

/** Undefined if the state folder of this machine is used. */
export function sharedStore(
  { config, file }: Pick<LoadedConfig, 'config' | 'file'>,
  environment: Environment,
  cwd: string,
): SharedStore | undefined {
  if (config.store === undefined) return undefined;
  const { keyFile } = config.security;
  const base = file === undefined ? cwd : dirname(file);
  return {
    url: config.store,
    leaseMs: config.cluster.lease,
    maxConnections: config.cluster.connections,
    key: () => givenKey(environment.CODEMODE_KEY, keyFile === undefined ? undefined : resolve(base, keyFile)),
  };
}

/** Never generated here: with a second key, this host and the others could not open each other's sealed data. */
async function givenKey(variable: string | undefined, file: string | undefined): Promise<Uint8Array> {
  if (variable !== undefined && variable !== '') return parseKey(variable, 'CODEMODE_KEY');
  if (file === undefined) {
    throw new HostError(
      'bad_config',
      `hosts that share a \`store\` need the same key, and this one was given none: set CODEMODE_KEY or security.keyFile; ${MAKE_KEY}`,
    );
  }
  const bytes = await readRegularFile(file, MAX_KEY_FILE_BYTES).catch((error: unknown) => {
    throw new HostError('bad_config', `security.keyFile cannot be read: ${file}; check the path and who owns it`, {
      cause: error,
    });
  });
  return parseKey(bytes.toString('utf8'), `security.keyFile (${file})`);
}

function parseKey(text: string, place: string): Uint8Array {
  const written = text.trim();
  const key = /^[\w+/-]+={0,2}$/.test(written) ? Buffer.from(written, 'base64') : Buffer.alloc(0);
  if (key.length === KEY_BYTES) return new Uint8Array(key);
  throw new HostError('bad_config', `${place} is not ${KEY_BYTES} bytes in base64; ${MAKE_KEY}`);
}
