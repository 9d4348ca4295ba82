import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditEntry, CallOutcome } from '../../../domain/audit.js';
import { makeFolder } from '../../../lib/files/make-folder.js';
import { processIdentity } from '../../../lib/files/process-identity.js';
import { writeWhole } from '../../../lib/files/write-whole.js';
import type { AuditKeys } from '../../audit-keys.js';

/** A folder in the state folder, with one file for each host that makes calls. */
export const JOURNAL_FOLDER = 'audit-open';
export const JOURNAL_ENDING = '.journal';

/** The first line: whose journal it is. */
export interface JournalHeader {
  readonly format: 1;
  /** The prefix of the ids of all its calls. */
  readonly host: string;
  readonly process: string;
  /** The length of the chain when the host started. All records of the host come after it. */
  readonly from: number;
}

export interface JournalOwner extends Pick<JournalHeader, 'host' | 'from'> {
  /** The process that writes it. Default: this process. */
  readonly process?: string;
}

/** A call that is sent, or the outcome of one. */
export type JournalEntry = AuditEntry | CallOutcome;

/** The limit for one line. Lines of calls take a tenth of it. */
const MAX_LINE_BYTES = 64 * 1024;

/**
 * Records that are not in the chain yet: calls that were sent, and the latest outcomes. Writing a line takes 2 µs, a commit of the
 * database ten times as long. Both survive if the process is killed.
 *
 * Each line is authenticated together with the previous one, so that none can be changed, moved or removed. Only the last lines can
 * be cut off, until they are in the chain. When everything is in the chain, the file is overwritten from its start, which is
 * cheaper than letting it grow. Lines after the last new one are older, and their authentication fails.
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

  /** The entry is in the file when this returns, even if the process is killed afterwards. Throws if the disk is full. */
  write(entry: JournalEntry): void {
    const body = JSON.stringify(entry);
    const mac = this.#keys.journalMac(this.#mac, body);
    const bytes = this.#buffer.write(`${mac} ${body}\n`);
    if (bytes === MAX_LINE_BYTES) throw new Error('the journal of calls cannot be written: a line is too long');
    // A partial line does not count: the next line overwrites it.
    if (writeSync(this.#descriptor, this.#buffer, 0, bytes, this.#bytes) < bytes)
      throw new Error('the journal of calls cannot be written: the disk is full');
    this.#bytes += bytes;
    this.#mac = mac;
  }

  /** Call this when every entry is in the chain. */
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
