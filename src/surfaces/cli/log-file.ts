import { appendFileSync, chmodSync, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { makeFolderSync } from '../../lib/files/make-folder.js';

export type Rotation = 'hourly' | 'daily';

export interface LogFileSettings {
  readonly path: string;
  /** Starts a new file every day or hour. */
  readonly rotation?: Rotation | undefined;
  /** Starts a new file if this one would grow beyond it. */
  readonly maxSize?: number | undefined;
  /** How many old files are kept. */
  readonly keep: number;
}

/** `2026-11-16`, `2026-11-16T09`, or with the full time if that does not distinguish two files. */
const STAMP = /^\d{4}-\d{2}-\d{2}(T\d{2}(-\d{2}-\d{2}-\d{3})?)?$/;

/**
 * A log file that only its owner can read. It is rotated by day, hour or size to `NAME.2026-11-16` (UTC). Lines are written
 * synchronously and in order: they are few, and the last one before a crash matters most.
 *
 * Several processes may write the same file. Before a rotation each checks the file itself, not what it remembers of it, and none
 * overwrites a rotated file.
 */
export class LogFile {
  readonly #path: string;
  readonly #settings: LogFileSettings;
  readonly #onProblem: (problem: string) => void;
  #isOpen = false;
  #hasFailed = false;

  constructor(settings: LogFileSettings, onProblem: (problem: string) => void) {
    this.#path = resolve(settings.path);
    this.#settings = settings;
    this.#onProblem = onProblem;
  }

  write(text: string): void {
    try {
      this.#open();
      this.#turn(new Date(), Buffer.byteLength(text));
      appendFileSync(this.#path, text, { mode: 0o600 });
      this.#hasFailed = false;
    } catch (error) {
      // Reported once per failure period: every line would say the same.
      if (!this.#hasFailed) this.#onProblem(`the log ${this.#path} cannot be written: ${(error as Error).message}`);
      this.#hasFailed = true;
    }
  }

  #open(): void {
    if (this.#isOpen) return;
    makeFolderSync(dirname(this.#path), 0o700);
    // Another user may have created it, readable for everybody.
    if (existsSync(this.#path)) chmodSync(this.#path, 0o600);
    this.#isOpen = true;
  }

  /** Rotates the file if its lines belong to an earlier period than the next line, or if it would become too large. */
  #turn(now: Date, nextBytes: number): void {
    const { rotation, maxSize = Number.POSITIVE_INFINITY } = this.#settings;
    if (rotation === undefined && maxSize === Number.POSITIVE_INFINITY) return;
    const file = statSync(this.#path, { throwIfNoEntry: false });
    if (file === undefined || file.size === 0) return;
    const isOfBefore = rotation !== undefined && periodOf(file.mtime, rotation) !== periodOf(now, rotation);
    if (!isOfBefore && file.size + nextBytes <= maxSize) return;
    const plain = `${this.#path}.${periodOf(file.mtime, rotation ?? 'daily')}`;
    renameSync(this.#path, isOfBefore && !existsSync(plain) ? plain : this.#freeName(now));
    this.#forgetOldest();
  }

  #freeName(now: Date): string {
    for (let time = now.getTime(); ; time++) {
      const name = `${this.#path}.${new Date(time).toISOString().slice(0, -1).replace(/[:.]/g, '-')}`;
      if (!existsSync(name)) return name;
    }
  }

  #forgetOldest(): void {
    const prefix = `${basename(this.#path)}.`;
    const kept = readdirSync(dirname(this.#path))
      .filter((name) => name.startsWith(prefix) && STAMP.test(name.slice(prefix.length)))
      .sort();
    const tooMany = Math.max(0, kept.length - this.#settings.keep);
    for (const name of kept.slice(0, tooMany)) rmSync(join(dirname(this.#path), name), { force: true });
  }
}

function periodOf(time: Date, rotation: Rotation): string {
  return time.toISOString().slice(0, rotation === 'daily' ? 'YYYY-MM-DD'.length : 'YYYY-MM-DDTHH'.length);
}
