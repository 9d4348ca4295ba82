import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HostError } from '../domain/errors.js';

const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{32,200}$/;
const MAX_FILE_BYTES = 1_000;
const OTHERS = 0o077;

/** The token that opens the HTTP surface: the one of this state folder, or a new one. Only its owner can read it. */
export async function accessToken(stateFolder: string): Promise<string> {
  const file = join(stateFolder, 'token');
  return (await readToken(file)) ?? makeToken(stateFolder, file);
}

async function readToken(file: string): Promise<string | undefined> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new HostError('bad_config', `the access token in ${file} cannot be read; check who owns it`, {
      cause: error,
    });
  }
  try {
    const { mode, size } = await handle.stat();
    if ((mode & OTHERS) !== 0) {
      throw new HostError(
        'bad_config',
        `others can read the access token in ${file}; delete the file, and a new one is made at the next start`,
      );
    }
    const token = size > MAX_FILE_BYTES ? '' : (await handle.readFile('utf8')).trim();
    if (TOKEN.test(token)) return token;
    throw new HostError(
      'bad_config',
      `${file} holds no access token; delete it, and a new one is made at the next start`,
    );
  } finally {
    await handle.close();
  }
}

/** Of two processes that start at once, one makes it and the other finds it. */
async function makeToken(stateFolder: string, file: string): Promise<string> {
  const temporary = `${file}.${randomUUID()}`;
  try {
    await mkdir(stateFolder, { recursive: true, mode: 0o700 });
    await writeFile(temporary, `${randomBytes(TOKEN_BYTES).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
    await link(temporary, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } catch (error) {
    throw new HostError(
      'bad_config',
      `no access token can be kept in ${stateFolder}; set CODEMODE_HOME to a folder of yours`,
      {
        cause: error,
      },
    );
  } finally {
    await rm(temporary, { force: true });
  }
  return (await readToken(file)) as string;
}
