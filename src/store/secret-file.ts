import { randomBytes, randomUUID } from 'node:crypto';
import { link, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HostError } from '../domain/errors.js';
import { makeFolder } from '../lib/make-folder.js';

const SECRET_BYTES = 32;
/** What 32 bytes look like in base64url. */
const SECRET = /^[\w-]{43}$/;
const MAX_FILE_BYTES = 1_000;
const OTHERS = 0o077;

/** A secret of this state folder: the one that is there, or a new one. Only its owner can read it. */
export async function secretFile(stateFolder: string, name: 'token' | 'key', noun: string): Promise<string> {
  const file = join(stateFolder, name);
  return (await read(file, noun)) ?? make(stateFolder, file, noun);
}

async function read(file: string, noun: string): Promise<string | undefined> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new HostError('bad_config', `the ${noun} in ${file} cannot be read; check who owns it`, { cause: error });
  }
  try {
    const { mode, size } = await handle.stat();
    if ((mode & OTHERS) !== 0) {
      throw new HostError(
        'bad_config',
        `others can read the ${noun} in ${file}; delete the file, and a new one is made at the next start`,
      );
    }
    const secret = size > MAX_FILE_BYTES ? '' : (await handle.readFile('utf8')).trim();
    if (SECRET.test(secret)) return secret;
    throw new HostError('bad_config', `${file} holds no ${noun}; delete it, and a new one is made at the next start`);
  } finally {
    await handle.close();
  }
}

/** Of two processes that start at once, one makes it and the other finds it. */
async function make(stateFolder: string, file: string, noun: string): Promise<string> {
  const temporary = `${file}.${randomUUID()}`;
  try {
    await makeFolder(stateFolder, 0o700);
    await writeFile(temporary, `${randomBytes(SECRET_BYTES).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
    await link(temporary, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } catch (error) {
    throw new HostError(
      'bad_config',
      `no ${noun} can be kept in ${stateFolder}; set CODEMODE_HOME to a folder of yours`,
      { cause: error },
    );
  } finally {
    await rm(temporary, { force: true });
  }
  return (await read(file, noun)) as string;
}
