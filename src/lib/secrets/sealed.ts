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
 * Bytes that must stay secret and are trusted when they come back: encrypted and authenticated (AES-256-GCM), and bound to their
 * owner. If they are moved to another place, changed by a bit or sealed under another key, they do not open.
 */
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const SEAL_KEY_BYTES = 32;
/** The bytes that a seal adds. */
export const SEAL_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

export interface SealBinding {
  /** One key on disk serves several purposes. Each purpose gets its own derived key. */
  readonly purpose: string;
  /** The identifiers of what the bytes belong to, in order. */
  readonly owner: readonly string[];
}

export function seal(key: Uint8Array, binding: SealBinding, plain: Uint8Array): Buffer {
  const nonce = takeRandom(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', deriveKey(key, binding), nonce);
  cipher.setAAD(associated(binding));
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), sealed]);
}

/** The unsealed bytes. Undefined if they were changed, belong elsewhere or were sealed under another key. */
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

/** Authenticates text that anybody may read and nobody else may change. */
export function authenticate(key: Uint8Array, binding: SealBinding): Buffer {
  return createHmac('sha256', deriveKey(key, binding)).update(associated(binding)).digest();
}

export function isAuthentic(key: Uint8Array, binding: SealBinding, mark: Uint8Array | null): boolean {
  const expected = authenticate(key, binding);
  return mark !== null && mark.byteLength === expected.length && timingSafeEqual(expected, mark);
}

/**
 * Derived keys, kept as long as their source key is held. Purposes are a handful of names in our source. Deriving a key takes
 * longer than sealing the data of one run.
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
