import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { HostError } from '../../domain/errors.js';
import { seal, unseal } from '../../lib/secrets/sealed.js';
import type { CredentialOwner, CredentialStore, HeldLock } from '../../store/credentials.js';

/** Longer than any operation under the lock, so that the lock is still held when the response arrives. */
const LEASE_MS = 90_000;
const WAIT_FOR_LOCK_MS = 60_000;
const ASK_AGAIN_MS = 40;

const clientSchema = z.object({
  clientId: z.string(),
  clientSecret: z.string().exactOptional(),
  authentication: z.string().exactOptional(),
});

const grantSchema = z.object({
  grant: z.enum(['authorization_code', 'client_credentials']),
  server: z.object({
    issuer: z.string(),
    tokenEndpoint: z.string(),
    revocationEndpoint: z.string().exactOptional(),
    clientAuthentication: z.array(z.string()),
  }),
  client: clientSchema,
  resource: z.string(),
  tokens: z
    .object({
      accessToken: z.string(),
      refreshToken: z.string().exactOptional(),
      scope: z.string().exactOptional(),
      issuedAtMs: z.number(),
      expiresAtMs: z.number().exactOptional(),
    })
    // Absent if the authorization server has revoked it. The other fields show what existed.
    .exactOptional(),
});

const SCHEMAS = {
  /** The tokens for a server, and all that is needed to renew them. */
  grant: grantSchema,
  /** Our registration at an authorization server, kept for the next login. */
  registration: z.object({
    issuer: z.string(),
    redirectUri: z.string(),
    /** The scope it was registered for. Some authorization servers grant it no more. */
    scope: z.string().exactOptional(),
    client: clientSchema,
  }),
  /** Scopes that the last token lacked. The next login requests them too. */
  wanted: z.object({ scope: z.string() }),
} as const;

type Kind = keyof typeof SCHEMAS;
export type Grant = z.output<typeof grantSchema>;
export type Registration = z.output<(typeof SCHEMAS)['registration']>;

export interface VaultParts {
  readonly store: CredentialStore;
  readonly key: Uint8Array;
}

/** Write access while the lock is held. */
export interface VaultSession {
  write<K extends Kind>(kind: K, value: z.input<(typeof SCHEMAS)[K]>): Promise<void>;
  remove(kind: Kind): Promise<void>;
}

/**
 * Tokens and registrations, sealed under the key of the state folder. Each entry is bound to the server's name and URL: a
 * server that is pointed elsewhere, or takes another's name, finds nothing, and a row that was copied elsewhere does not open.
 * The store is opened at first use: most programs need no login.
 */
export class Vault {
  readonly #open: () => Promise<VaultParts>;
  #parts: Promise<VaultParts> | undefined;

  constructor(open: () => Promise<VaultParts>) {
    this.#open = open;
  }

  async read<K extends Kind>(owner: CredentialOwner, kind: K): Promise<z.output<(typeof SCHEMAS)[K]> | undefined> {
    const { store, key } = await this.#opened();
    const sealed = await store.read(owner, kind);
    const plain = sealed === undefined ? undefined : unseal(key, bindingOf(owner, kind), sealed);
    if (plain === undefined) return undefined;
    const parsed = SCHEMAS[kind].safeParse(JSON.parse(plain.toString('utf8')));
    return parsed.success ? (parsed.data as z.output<(typeof SCHEMAS)[K]>) : undefined;
  }

  /** Exclusive access to the credentials of one server, among all hosts that share this state folder. */
  async locked<Result>(owner: CredentialOwner, work: (session: VaultSession) => Promise<Result>): Promise<Result> {
    const { store, key } = await this.#opened();
    const lock: HeldLock = { name: JSON.stringify([owner.serverId, owner.url]), holder: randomUUID() };
    const patienceEndsAt = performance.now() + WAIT_FOR_LOCK_MS;
    while (!(await store.takeLock(lock, LEASE_MS))) {
      if (performance.now() > patienceEndsAt)
        throw new HostError(
          'upstream_unavailable',
          `another codemode process has held the login of ${JSON.stringify(owner.serverId)} for too long; try again`,
        );
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
    }
    try {
      return await work({
        write: async (kind, value) => {
          const sealed = seal(key, bindingOf(owner, kind), Buffer.from(JSON.stringify(value)));
          if (!(await store.write(owner, kind, sealed, lock)))
            throw new HostError(
              'upstream_unavailable',
              'the login took too long, and another codemode process has taken it over',
            );
        },
        remove: async (kind) => {
          await store.remove(owner, kind);
        },
      });
    } finally {
      await store.dropLock(lock);
    }
  }

  /** Deletes everything stored for a server, also for its earlier URLs. */
  async forget(serverId: string): Promise<boolean> {
    return (await this.#opened()).store.removeServer(serverId);
  }

  /** Servers with stored credentials. */
  async servers(): Promise<string[]> {
    return (await this.#opened()).store.servers();
  }

  #opened() {
    this.#parts ??= this.#open().catch((error: unknown) => {
      this.#parts = undefined;
      throw error;
    });
    return this.#parts;
  }
}

function bindingOf({ serverId, url }: CredentialOwner, kind: Kind) {
  return { purpose: 'credentials', owner: [serverId, url, kind] };
}
