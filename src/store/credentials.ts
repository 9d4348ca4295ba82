import type { Awaitable } from '../lib/async/awaitable.js';

/** Whose a credential is: a server by its name, at the address it has. */
export interface CredentialOwner {
  readonly serverId: string;
  readonly url: string;
}

export interface HeldLock {
  readonly name: string;
  readonly holder: string;
}

/** Sealed credentials, and the locks by which hosts that share them take turns. Opens nothing: see the vault. */
export interface CredentialStore {
  read(owner: CredentialOwner, kind: string): Awaitable<Uint8Array | undefined>;
  /** Only for the holder of the lock: a holder whose lease has expired must not overwrite what the next one wrote. */
  write(owner: CredentialOwner, kind: string, sealed: Uint8Array, lock: HeldLock): Awaitable<boolean>;
  remove(owner: CredentialOwner, kind: string): Awaitable<boolean>;
  /** Everything of a server, at whatever address it was. */
  removeServer(serverId: string): Awaitable<boolean>;
  servers(): Awaitable<string[]>;
  /** Whether it is ours now. A holder that died loses it after `leaseMs`. */
  takeLock(lock: HeldLock, leaseMs: number): Awaitable<boolean>;
  dropLock(lock: HeldLock): Awaitable<void>;
}
