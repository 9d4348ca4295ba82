import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { HostError } from '../../../domain/errors.js';
import type { JsonValue } from '../../../domain/json.js';
import { seal, unseal } from '../../../lib/secrets/sealed.js';
import { type CachedListing, type CatalogCache, listingText, readListing } from '../../catalog-cache.js';
import type { ObservedTypesStore } from '../../observed-types.js';
import type { ResultStore } from '../../results.js';
import type { ApproverSecretStore } from '../../store.js';
import type { Postgres } from './connection.js';

/** Named values, sealed and bound to their names: an attacker who can write to the table but has no key cannot plant one. */
export class SealedValues {
  readonly #postgres: Postgres;
  readonly #key: Uint8Array;

  constructor(postgres: Postgres, key: Uint8Array) {
    this.#postgres = postgres;
    this.#key = key;
  }

  /** Undefined if there is no value. Throws if the value was not sealed by a host with this key. */
  async read(name: string): Promise<string | undefined> {
    const [row] = await this.#postgres.query<{ sealed: Buffer }>(
      'SELECT sealed FROM codemode.sealed_values WHERE name = $1',
      [name],
    );
    if (row === undefined) return undefined;
    const text = unseal(this.#key, { purpose: 'shared value', owner: [name] }, row.sealed)?.toString('utf8');
    if (text === undefined)
      throw new HostError('bad_config', `the value "${name}" in the database was changed by somebody without the key`);
    return text;
  }

  async write(name: string, text: string, { isFirst = false } = {}): Promise<void> {
    const sealed = seal(this.#key, { purpose: 'shared value', owner: [name] }, Buffer.from(text));
    await this.#postgres.change(
      `INSERT INTO codemode.sealed_values (name, sealed) VALUES ($1, $2)
        ON CONFLICT (name) DO ${isFirst ? 'NOTHING' : 'UPDATE SET sealed = excluded.sealed, saved_at = now()'}`,
      [name, sealed],
    );
  }

  async remove(name: string): Promise<void> {
    await this.#postgres.change('DELETE FROM codemode.sealed_values WHERE name = $1', [name]);
  }
}

type Open = () => Promise<SealedValues>;

/** The token of the HTTP surface of all hosts. If two hosts create one at once, both get the first. */
export async function sharedAccessToken(open: Open): Promise<string> {
  const values = await open();
  const known = await values.read(TOKEN);
  if (known !== undefined) return known;
  await values.write(TOKEN, randomBytes(32).toString('base64url'), { isFirst: true });
  return (await values.read(TOKEN)) as string;
}

/** An unreachable cache only makes a start slower. */
export function sharedCatalogCache(open: Open): CatalogCache {
  const name = (serverId: string) => `catalog ${serverId}`;
  return {
    read: async (serverId, fingerprint): Promise<CachedListing | undefined> => {
      try {
        const text = await (await open()).read(name(serverId));
        return text === undefined ? undefined : readListing(text, serverId, fingerprint);
      } catch {
        return undefined;
      }
    },
    write: (serverId, fingerprint, listing) =>
      tried(async () => (await open()).write(name(serverId), listingText(fingerprint, listing))),
    remove: (serverId) => tried(async () => (await open()).remove(name(serverId))),
  };
}

export function sharedObservedTypes(open: Open): ObservedTypesStore {
  return {
    read: async () => {
      try {
        const text = await (await open()).read(TYPES);
        return text === undefined ? undefined : (JSON.parse(text) as JsonValue);
      } catch {
        return undefined;
      }
    },
    write: (types) => tried(async () => (await open()).write(TYPES, JSON.stringify(types))),
  };
}

/** The names include the caller, so a handle of another caller finds nothing. */
export function sharedResults(open: Open): ResultStore {
  const name = (caller: string, handle: string) => `${RESULT_PREFIX}${JSON.stringify([caller, handle])}`;
  return {
    write: async (caller, handle, json) => (await open()).write(name(caller, handle), json),
    read: async (caller, handle) => (await open()).read(name(caller, handle)),
    remove: async (caller, handle) => (await open()).remove(name(caller, handle)),
  };
}

export function sharedApproverSecret(open: Open): ApproverSecretStore {
  return {
    make: async () => {
      const secret = randomBytes(24).toString('base64url');
      const salt = randomBytes(16);
      const hash = await derive(secret, salt, HASH_BYTES);
      await (await open()).write(APPROVER, `${salt.toString('base64url')}.${hash.toString('base64url')}`);
      return secret;
    },
    isRight: async (secret) => {
      const [salt = '', hash = ''] = ((await (await open()).read(APPROVER)) ?? '').split('.');
      const expected = Buffer.from(hash, 'base64url');
      if (expected.length !== HASH_BYTES) return false;
      return timingSafeEqual(expected, await derive(secret, Buffer.from(salt, 'base64url'), HASH_BYTES));
    },
    isMade: async () => (await (await open()).read(APPROVER)) !== undefined,
  };
}

/** The prefix of the names of kept results. */
export const RESULT_PREFIX = 'result ';
const TOKEN = 'access token';
const TYPES = 'observed types';
const APPROVER = 'approver secret';
const HASH_BYTES = 32;
const derive = promisify<string, Buffer, number, Buffer>(scrypt);

async function tried(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch {
    // The next host that learns the value writes it.
  }
}
