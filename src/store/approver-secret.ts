import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeFolder } from '../lib/make-folder.js';
import { writeWhole } from '../lib/write-whole.js';

const derive = promisify<string, Buffer, number, Buffer>(scrypt);
const HASH_BYTES = 32;

/** Makes the secret by which a person decides without a terminal. Only its hash is kept; one made before is void. */
export async function makeApproverSecret(stateFolder: string): Promise<string> {
  const secret = randomBytes(24).toString('base64url');
  const salt = randomBytes(16);
  const hash = await derive(secret, salt, HASH_BYTES);
  await makeFolder(stateFolder, 0o700);
  const text = `${salt.toString('base64url')}.${hash.toString('base64url')}\n`;
  await writeWhole(join(stateFolder, 'approver'), text, { mode: 0o600, replaces: true });
  return secret;
}

export async function isApproverSecret(stateFolder: string, secret: string): Promise<boolean> {
  const text = await readFile(join(stateFolder, 'approver'), 'utf8').catch(() => '');
  const [salt = '', hash = ''] = text.trim().split('.');
  const expected = Buffer.from(hash, 'base64url');
  if (expected.length !== HASH_BYTES) return false;
  return timingSafeEqual(expected, await derive(secret, Buffer.from(salt, 'base64url'), HASH_BYTES));
}
