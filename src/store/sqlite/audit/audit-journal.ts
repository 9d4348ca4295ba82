import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditEntry, CallOutcome } from '../../../domain/audit.js';
import { makeFolder } from '../../../lib/files/make-folder.js';
import { processIdentity } from '../../../lib/files/process-identity.js';
import { writeWhole } from '../../../lib/files/write-whole.js';
import type { AuditKeys } from '../../audit-keys.js';

/** Of the state folder: one file for each host that makes calls. */
export const JOURNAL_FOLDER = 'audit-open';
export const JOURNAL_ENDING = '.journal';

/** The first line: whose journal it is. */
export interface JournalHeader {
  readonly format: 1;
  /** With which the ids of all its calls begin. */
  readonly host: string;
  readonly process: string;
  /** How long the chain was when the host began: all its records are behind that. */
  readonly from: number;
}

export interface JournalOwner extends Pick<JournalHeader, 'host' | 'from'> {
  /** Who writes it; this process, unless another is named. */
  readonly process?: string;
}

/** A call that is sent, or what became of one. */
export type JournalEntry = AuditEntry | CallOutcome;

/** Of one line; those of calls are a tenth of it. */
const MAX_LINE_BYTES = 64 * 1024;

/**
 * Records that are not in the chain yet: calls that were sent, and the latest outcomes. Writing a line takes 2 µs, a commit
 * of the database ten times as long; both survive when the process is killed.
 *
 * Each line is authenticated together with the previous one, so that none can be changed, moved or removed. Only the last
 * lines can be cut off, until they are in the chain. When everything is in the chain, the file is overwritten from its
 * start, which is cheaper than letting it grow: lines after the last one are older, and their authentication fails.
 */
export class AuditJournal {
  readonly #keys: AuditKeys;
  readonly #file: string;
  readonly #descriptor: number;
  readonly #buffer = Buffer.allocUnsafeSlow(MAX_LINE_BYTES);
  readonly #start: { readonly bytes: number; readonly mac: string };
  #bytes: number;
  #mac: string;

  private constructor(keys: AuditKeys, file: string, start: { bytes: number; mac: string }) {
    this.#keys = keys;
    this.#file = file;
    this.#descriptor = openSync(file, 'r+');
    this.#start = start;
    ({ bytes: this.#bytes, mac: this.#mac } = start);
  }

  static async create(stateFolder: string, keys: AuditKeys, { host, from, process = thisProcess() }: JournalOwner) {
    const folder = join(stateFolder, JOURNAL_FOLDER);
    await makeFolder(folder, 0o700);
    const header: JournalHeader = { format: 1, host, process, from };
    const body = JSON.stringify(header);
    const mac = keys.journalMac('', body);
    const line = `${mac} ${body}\n`;
    const file = join(folder, `${host}${JOURNAL_ENDING}`);
    await writeWhole(file, line, { mode: 0o600, replaces: true });
    return new AuditJournal(keys, file, { bytes: Buffer.byteLength(line), mac });
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The entry is in the file when this returns, even if the process is killed then. Throws if the disk is full. */
  write(entry: JournalEntry): void {
    const body = JSON.stringify(entry);
    const mac = this.#keys.journalMac(this.#mac, body);
    const bytes = this.#buffer.write(`${mac} ${body}\n`);
    if (bytes === MAX_LINE_BYTES) throw new Error('the journal of calls cannot be written: too long a line');
    // A part of a line is none: the next one is written over it.
    if (writeSync(this.#descriptor, this.#buffer, 0, bytes, this.#bytes) < bytes)
      throw new Error('the journal of calls cannot be written: the disk is full');
    this.#bytes += bytes;
    this.#mac = mac;
  }

  /** Everything in it is in the chain. */
  empty(): void {
    ({ bytes: this.#bytes, mac: this.#mac } = this.#start);
  }

  /** @param isDone the file is no longer needed. Otherwise it stays for the next process. */
  close(isDone: boolean): void {
    closeSync(this.#descriptor);
    if (isDone) rmSync(this.#file, { force: true });
  }
}

function thisProcess(): string {
  return processIdentity() ?? `${process.pid}:unknown`;
}
