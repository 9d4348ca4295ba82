import { appendFileSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { makeFolderSync } from '../../lib/make-folder.js';

export type Rotation = 'hourly' | 'daily';

/** Files of earlier days or hours that are kept. */
const MAX_KEPT = 30;
const STAMP = /^\d{4}-\d{2}-\d{2}(T\d{2})?$/;

/**
 * A file of log lines, for its owner alone. With a rotation, the lines of another day or hour (UTC) are put away as
 * `NAME.2026-11-16`. Written at once and in order: these are few lines, and the last one before a crash counts most.
 */
export class LogFile {
  readonly #path: string;
  readonly #rotation: Rotation | undefined;
  readonly #onProblem: (problem: string) => void;
  #period: string | undefined;
  #hasFailed = false;

  constructor(path: string, rotation: Rotation | undefined, onProblem: (problem: string) => void) {
    this.#path = resolve(path);
    this.#rotation = rotation;
    this.#onProblem = onProblem;
  }

  write(text: string): void {
    try {
      this.#turn(new Date());
      appendFileSync(this.#path, text, { mode: 0o600 });
      this.#hasFailed = false;
    } catch (error) {
      // Said once for each time it begins: every line would say the same.
      if (!this.#hasFailed) this.#onProblem(`the log ${this.#path} cannot be written: ${(error as Error).message}`);
      this.#hasFailed = true;
    }
  }

  /** Puts the file away when its lines are of another period than the one that is about to be written. */
  #turn(now: Date): void {
    if (this.#period === undefined) makeFolderSync(dirname(this.#path), 0o700);
    if (this.#rotation === undefined) {
      this.#period = '';
      return;
    }
    const period = periodOf(now, this.#rotation);
    // An earlier process may have written it.
    const last = this.#period ?? this.#periodOfFile() ?? period;
    if (last !== period) {
      renameSync(this.#path, `${this.#path}.${last}`);
      this.#forgetOldest();
    }
    this.#period = period;
  }

  #periodOfFile(): string | undefined {
    const modified = statSync(this.#path, { throwIfNoEntry: false })?.mtime;
    return modified === undefined ? undefined : periodOf(modified, this.#rotation as Rotation);
  }

  #forgetOldest(): void {
    const prefix = `${basename(this.#path)}.`;
    const kept = readdirSync(dirname(this.#path))
      .filter((name) => name.startsWith(prefix) && STAMP.test(name.slice(prefix.length)))
      .sort();
    for (const name of kept.slice(0, -MAX_KEPT)) rmSync(join(dirname(this.#path), name), { force: true });
  }
}

function periodOf(time: Date, rotation: Rotation): string {
  return time.toISOString().slice(0, rotation === 'daily' ? 'YYYY-MM-DD'.length : 'YYYY-MM-DDTHH'.length);
}
