import type { Awaitable } from '../lib/async/awaitable.js';

/** The owner of a credential: a server's name and its address. */
export interface CredentialOwner {
  readonly serverId: string;
  readonly url: string;
}

export interface HeldLock {
  readonly name: string;
  readonly holder: string;
}

/** Sealed credentials, and the locks by which hosts that share them take turns. It does not unseal them: see the vault. */
export interface CredentialStore {
  read(owner: CredentialOwner, kind: string): Awaitable<Uint8Array | undefined>;
  /** Only for the holder of the lock: a holder whose lease has expired must not overwrite what the next holder wrote. */
  write(owner: CredentialOwner, kind: string, sealed: Uint8Array, lock: HeldLock): Awaitable<boolean>;
  remove(owner: CredentialOwner, kind: string): Awaitable<boolean>;
  /** Removes all credentials of a server, at any address. */
  removeServer(serverId: string): Awaitable<boolean>;
  servers(): Awaitable<string[]>;
  /** Whether the lock was acquired. A holder that died loses it after `leaseMs`. */
  takeLock(lock: HeldLock, leaseMs: number): Awaitable<boolean>;
  dropLock(lock: HeldLock): Awaitable<void>;
}
