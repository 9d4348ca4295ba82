import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { ChainHead } from '../domain/audit.js';
import { type AuditKeys, GENESIS, type ReadHead } from './audit-keys.js';

const schema = z.object({
  format: z.literal(1),
  count: z.number().int().nonnegative(),
  hash: z.string().length(64),
  mac: z.string(),
});

/**
 * The end of the chain, in a file beside the database, so that records cut off its end are detected. It may be behind the table by
 * the latest writes, never ahead of it.
 */
export class SealedHead {
  readonly #file: string;
  readonly #keys: AuditKeys;

  constructor(stateFolder: string, keys: AuditKeys, name = 'audit.head') {
    this.#file = join(stateFolder, name);
    this.#keys = keys;
  }

  read(): ReadHead {
    let text: string;
    try {
      text = readFileSync(this.#file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing';
      throw error;
    }
    try {
      const { count, hash, mac } = schema.parse(JSON.parse(text));
      return this.#keys.isMac(mac, 'head', count, hash) ? { count, hash } : 'forged';
    } catch {
      return 'forged';
    }
  }

  /** The head exists before the first record, so a table with records and no head has lost its head. */
  begin(): void {
    const temporary = this.#temporary();
    try {
      writeFileSync(temporary, this.#text(GENESIS), { mode: 0o600 });
      linkSync(temporary, this.#file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  /** Writes and syncs the head under a temporary name, so that `replace` takes only microseconds. */
  async prepare(head: ChainHead): Promise<PreparedHead> {
    const temporary = this.#temporary();
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(this.#text(head));
      await handle.datasync();
    } finally {
      await handle.close();
    }
    return {
      replace: () => renameSync(temporary, this.#file),
      discard: () => rmSync(temporary, { force: true }),
    };
  }

  #text({ count, hash }: ChainHead): string {
    return `${JSON.stringify({ format: 1, count, hash, mac: this.#keys.macOf('head', count, hash) })}\n`;
  }

  #temporary(): string {
    return `${this.#file}.${randomUUID()}`;
  }
}

export interface PreparedHead {
  replace(): void;
  discard(): void;
}
