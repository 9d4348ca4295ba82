import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { takeRandom } from './random-supply.js';

/**
 * Bytes that are secret and trusted when they come back: encrypted and authenticated (AES-256-GCM), and bound to what
 * they belong to. Moved to another place, changed by a bit or made under another key, they do not open.
 */
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const SEAL_KEY_BYTES = 32;
/** What a seal adds to what is sealed. */
export const SEAL_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

export interface SealBinding {
  /** One key on disk serves several purposes; each gets its own. */
  readonly purpose: string;
  /** What the bytes belong to, in order. */
  readonly owner: readonly string[];
}

export function seal(key: Uint8Array, binding: SealBinding, plain: Uint8Array): Buffer {
  const nonce = takeRandom(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', deriveKey(key, binding), nonce);
  cipher.setAAD(associated(binding));
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), sealed]);
}

/** What was sealed, or undefined where it was changed, belongs elsewhere or was made under another key. */
export function unseal(key: Uint8Array, binding: SealBinding, bytes: Uint8Array): Buffer | undefined {
  const sealed = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== VERSION) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', deriveKey(key, binding), sealed.subarray(1, 1 + NONCE_BYTES));
  decipher.setAAD(associated(binding));
  decipher.setAuthTag(sealed.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(1 + NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** Vouches for text that may be read by anybody and must not be changed by anybody else. */
export function authenticate(key: Uint8Array, binding: SealBinding): Buffer {
  return createHmac('sha256', deriveKey(key, binding)).update(associated(binding)).digest();
}

export function isAuthentic(key: Uint8Array, binding: SealBinding, mark: Uint8Array | null): boolean {
  const expected = authenticate(key, binding);
  return mark !== null && mark.byteLength === expected.length && timingSafeEqual(expected, mark);
}

/**
 * Keys that were derived, for as long as the one they come from is held. Purposes are names in our source, a handful; to
 * derive a key takes longer than to seal what one run leaves.
 */
const derivedKeys = new WeakMap<Uint8Array, Map<string, KeyObject>>();

function deriveKey(key: Uint8Array, { purpose }: SealBinding): KeyObject {
  if (key.byteLength !== SEAL_KEY_BYTES) throw new RangeError(`a sealing key has ${SEAL_KEY_BYTES} bytes`);
  const known = derivedKeys.get(key) ?? new Map<string, KeyObject>();
  derivedKeys.set(key, known);
  const derived =
    known.get(purpose) ?? createSecretKey(Buffer.from(hkdfSync('sha256', key, '', `codemode ${purpose}`, 32)));
  known.set(purpose, derived);
  return derived;
}

/** JSON of an array: no two bindings give the same bytes. */
function associated({ purpose, owner }: SealBinding): Buffer {
  return Buffer.from(JSON.stringify([VERSION, purpose, ...owner]));
}
