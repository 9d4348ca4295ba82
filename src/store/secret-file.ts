import { randomBytes, randomUUID } from 'node:crypto';
import { link, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HostError, isHostError } from '../domain/errors.js';
import { makeFolder } from '../lib/files/make-folder.js';
import { readRegularFile, UnreadableFile } from '../lib/files/read-regular-file.js';
import { unwritableState } from './unwritable-state.js';

const SECRET_BYTES = 32;
/** 32 bytes in base64url. */
export const SECRET = /^[\w-]{43}$/;
const MAX_FILE_BYTES = 1_000;
const OTHERS = 0o077;

/** A secret of this state folder: the stored one, or a new one. Only its owner can read the file. */
export async function secretFile(stateFolder: string, name: 'token', noun: string): Promise<string> {
  const file = join(stateFolder, name);
  const kept = { file, noun, shape: SECRET, advice: 'delete the file, and a new one is made at the next start' };
  const known = await readSecret(kept);
  if (known !== undefined) return known;
  await keepFirst(stateFolder, file, newSecret());
  return (await readSecret(kept)) as string;
}

export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

interface KeptSecret {
  readonly file: string;
  readonly noun: string;
  readonly shape: RegExp;
  /** What to do if the file cannot be used. */
  readonly advice: string;
}

/** The content of a secret file, if it exists. Throws `bad_config` if others can read it or the content has another shape. */
export async function readSecret({ file, noun, shape, advice }: KeptSecret): Promise<string | undefined> {
  const check = ({ mode }: { readonly mode: number | bigint }) => {
    if ((Number(mode) & OTHERS) !== 0)
      throw new HostError('bad_config', `other users can read the ${noun} in ${file}; ${advice}`);
  };
  let secret = '';
  try {
    secret = (await readRegularFile(file, MAX_FILE_BYTES, { check })).toString('utf8').trim();
  } catch (error) {
    if (isHostError(error)) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (!(error instanceof UnreadableFile))
      throw new HostError('bad_config', `the ${noun} in ${file} cannot be read; check who owns it`, { cause: error });
  }
  if (shape.test(secret)) return secret;
  throw new HostError('bad_config', `${file} holds no ${noun}; ${advice}`);
}

/** If two processes start at once, one creates the file and the other finds it. Returns whether this call created it. */
export async function keepFirst(stateFolder: string, file: string, text: string): Promise<boolean> {
  const temporary = `${file}.${randomUUID()}`;
  try {
    await makeFolder(stateFolder, 0o700);
    await writeFile(temporary, `${text}\n`, { mode: 0o600, flag: 'wx' });
    await link(temporary, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw new HostError('bad_config', unwritableState(stateFolder, error), { cause: error });
  } finally {
    await rm(temporary, { force: true });
  }
}
