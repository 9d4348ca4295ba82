import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, linkSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { HostError } from '../../domain/errors.js';
import { makeFolderSync } from '../../lib/files/make-folder.js';
import type { Jail } from '../jail/jail.js';
import type { SharedSpec } from '../processes/process-spec.js';
import { ProgramProcess } from '../processes/program-process.js';
import { PROGRAM_NAME, waitingGoProgram } from './jailed-program.js';

export interface PlaceOptions {
  readonly jail: Jail;
  readonly build: string;
  /** The binary that waits in the jail and becomes the program. */
  readonly starterPath: string;
  /** On the same file system as the compiled programs. The users that jails run as must be able to read it. */
  readonly folder: string;
}

/** A jail that waits for any program: created ahead of need, used once. */
export class GoPlace {
  readonly #process: ProgramProcess;
  /** Mounted into the jail read-only. It only ever contains what the host puts here. */
  readonly #folder: string;

  constructor(shape: SharedSpec, { jail, build, starterPath, folder }: PlaceOptions) {
    this.#folder = join(folder, randomUUID());
    makeFolderSync(this.#folder, 0o755);
    try {
      this.#process = ProgramProcess.launch(shape, {
        jail,
        build,
        describe: () => waitingGoProgram(starterPath, this.#folder, shape, jail.level),
      });
    } catch (error) {
      this.#clear();
      throw error;
    }
    void this.#process.gone.then(() => this.#clear());
  }

  get isUsable(): boolean {
    return this.#process.isUsable;
  }

  /** Puts a compiled program into the jail and starts it there. Throws `worker_lost`. */
  async start(programPath: string): Promise<ProgramProcess> {
    try {
      place(programPath, join(this.#folder, PROGRAM_NAME));
      this.#process.release();
      await this.#process.greeted();
    } catch (error) {
      await this.close();
      throw error;
    }
    // The running program keeps its file; only the name is removed.
    this.#clear();
    return this.#process;
  }

  async close(): Promise<void> {
    await this.#process.close();
  }

  #clear(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A hard link: nothing is copied, and no file is ever open for writing, which would make the kernel refuse to start it. */
function place(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    // The file system has no links, or another host has discarded the program since it was found.
    if (!existsSync(from)) throw new HostError('worker_lost', 'the compiled program was deleted; run it again');
    copyFileSync(from, to);
  }
}

/** Far longer than any place waits. */
const LEFT_BEHIND_MS = 24 * 60 * 60 * 1000;

/** Removes the folders of hosts that were killed. */
export function prunePlaces(folder: string, nowMs = Date.now()): void {
  makeFolderSync(folder, 0o755);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats !== undefined && nowMs - stats.mtimeMs > LEFT_BEHIND_MS) rmSync(path, { recursive: true, force: true });
  }
}
