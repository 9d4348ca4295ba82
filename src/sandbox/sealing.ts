import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { HostError } from '../domain/errors.js';

/**
 * Suspended programs hold the user's data and are trusted when they come back, so they are encrypted and authenticated
 * at rest (AES-256-GCM), bound to what they belong to: moved to another run, changed by a bit or made by another host,
 * they do not open.
 */
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const SEAL_KEY_BYTES = 32;

export interface SealBinding {
  readonly execution: string;
  readonly caller: string;
  readonly codeDigest: string;
}

export function seal(key: Uint8Array, binding: SealBinding, plain: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', deriveKey(key), nonce);
  cipher.setAAD(associated(binding));
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), sealed]);
}

export function unseal(key: Uint8Array, binding: SealBinding, bytes: Uint8Array): Buffer {
  const rejected = () =>
    new HostError(
      'image_rejected',
      'this suspended program was changed, belongs to another run, or was made under another key; start the run again',
    );
  const sealed = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== VERSION) throw rejected();
  const decipher = createDecipheriv('aes-256-gcm', deriveKey(key), sealed.subarray(1, 1 + NONCE_BYTES));
  decipher.setAAD(associated(binding));
  decipher.setAuthTag(sealed.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(1 + NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  } catch {
    throw rejected();
  }
}

/** One key on disk serves several purposes; each gets its own. */
function deriveKey(key: Uint8Array): Uint8Array {
  if (key.byteLength !== SEAL_KEY_BYTES) throw new HostError('internal', `a sealing key has ${SEAL_KEY_BYTES} bytes`);
  return new Uint8Array(hkdfSync('sha256', key, '', 'codemode suspended program', 32));
}

/** JSON of an array: no two bindings give the same bytes. */
function associated({ execution, caller, codeDigest }: SealBinding): Buffer {
  return Buffer.from(JSON.stringify([VERSION, execution, caller, codeDigest]));
}
