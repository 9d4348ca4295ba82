import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeFolder } from '../../lib/files/make-folder.js';
import { readRegularFile } from '../../lib/files/read-regular-file.js';
import { writeWhole } from '../../lib/files/write-whole.js';

const derive = promisify<string, Buffer, number, Buffer>(scrypt);
const HASH_BYTES = 32;

/** Makes the secret with which a person decides without a terminal. Only its hash is kept. It replaces the previous one. */
export async function makeApproverSecret(stateFolder: string): Promise<string> {
  const secret = randomBytes(24).toString('base64url');
  const salt = randomBytes(16);
  const hash = await derive(secret, salt, HASH_BYTES);
  await makeFolder(stateFolder, 0o700);
  const text = `${salt.toString('base64url')}.${hash.toString('base64url')}\n`;
  await writeWhole(join(stateFolder, 'approver'), text, { mode: 0o600, replaces: true });
  return secret;
}

const MAX_FILE_BYTES = 1_000;

export async function isApproverSecret(stateFolder: string, secret: string): Promise<boolean> {
  const text = await readRegularFile(join(stateFolder, 'approver'), MAX_FILE_BYTES).then(String, () => '');
  const [salt = '', hash = ''] = text.trim().split('.');
  const expected = Buffer.from(hash, 'base64url');
  if (expected.length !== HASH_BYTES) return false;
  return timingSafeEqual(expected, await derive(secret, Buffer.from(salt, 'base64url'), HASH_BYTES));
}

/** Whether the user has made a secret. An unreadable file counts as one, because more is allowed without a secret. */
export function hasApproverSecret(stateFolder: string): Promise<boolean> {
  return readRegularFile(join(stateFolder, 'approver'), MAX_FILE_BYTES).then(
    (text) => text.length > 0,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
}
