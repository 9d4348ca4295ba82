import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { makeFolder } from '../lib/files/make-folder.js';
import { isProcessAlive, processIdentity } from '../lib/files/process-identity.js';
import { readRegularFile } from '../lib/files/read-regular-file.js';
import { writeWhole } from '../lib/files/write-whole.js';

/** A server that a running host does not use for a while. */
export interface Quarantine {
  readonly serverId: string;
  /** The process id of the host. */
  readonly pid: number;
  readonly reason: string;
  readonly untilMs: number;
}

const ENDING = '.json';
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_SERVERS = 1_000;
const MAX_REASON_CHARACTERS = 500;

const fileSchema = z.record(z.string(), z.object({ reason: z.string(), untilMs: z.number() }));

/**
 * The quarantines that hosts of this state folder publish, each host in its own file. Each host checks its servers itself, so a
 * server that floods `codemode serve` may look healthy to a command that starts it again. An unreadable file counts as absent.
 */
export class Quarantines {
  readonly #folder: string;
  readonly #own = processIdentity();
  readonly #told = new Map<string, { reason: string; untilMs: number }>();
  #writing: Promise<void> = Promise.resolve();

  constructor(stateFolder: string) {
    this.#folder = join(stateFolder, 'quarantines');
  }

  /** Never rejects: a full disk must not make a host fail. */
  add(serverId: string, reason: string, untilMs: number): Promise<void> {
    if (this.#own === undefined || this.#told.size >= MAX_SERVERS) return this.#writing;
    this.#told.set(serverId, { reason: reason.slice(0, MAX_REASON_CHARACTERS), untilMs });
    this.#writing = this.#writing.then(() => this.#write().catch(() => {}));
    return this.#writing;
  }

  /** The quarantines of running hosts that are not over. */
  async list(nowMs: number): Promise<Quarantine[]> {
    const names = await readdir(this.#folder).catch(() => [] as string[]);
    const found = await Promise.all(
      names.filter((name) => name.endsWith(ENDING)).map((name) => this.#read(name.slice(0, -ENDING.length))),
    );
    return found.flat().filter(({ untilMs }) => untilMs > nowMs);
  }

  async #write(): Promise<void> {
    const nowMs = Date.now();
    for (const [serverId, { untilMs }] of this.#told) if (untilMs <= nowMs) this.#told.delete(serverId);
    await makeFolder(this.#folder, 0o700);
    const text = JSON.stringify(Object.fromEntries(this.#told));
    await writeWhole(this.#file(this.#own as string), text, { mode: 0o600, replaces: true });
  }

  async #read(host: string): Promise<Quarantine[]> {
    const file = this.#file(host);
    try {
      if (!isProcessAlive(host)) {
        await rm(file, { force: true });
        return [];
      }
      const told = fileSchema.parse(JSON.parse((await readRegularFile(file, MAX_FILE_BYTES)).toString('utf8')));
      const pid = Number.parseInt(host, 10);
      return Object.entries(told).map(([serverId, each]) => ({ serverId, pid, ...each }));
    } catch {
      return [];
    }
  }

  #file(host: string): string {
    return join(this.#folder, `${host}${ENDING}`);
  }
}
