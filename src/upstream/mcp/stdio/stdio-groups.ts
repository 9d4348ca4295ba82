import { randomBytes } from 'node:crypto';
import { signalGroup } from '../../../lib/files/process-group.js';
import { MARK_VARIABLE, StdioGuard } from './stdio-guard.js';

/**
 * The process groups of all living servers that we started. A server leads its own group, so that what it starts (`npx` starts a
 * shell, which starts the server) ends with it. If this process is killed, the guard ends the groups.
 */
export class ChildGroups {
  readonly #living = new Set<number>();
  readonly #guard = new StdioGuard();
  readonly #onExit = (): void => this.killAll();

  /** Starts a process that leads its own group. `spawn` gets the variables that its environment must have. */
  start<Child extends { readonly pid?: number | undefined }>(
    spawn: (mark: Readonly<Record<string, string>>) => Child,
  ): Child {
    const mark = randomBytes(8).toString('hex');
    this.#guard.expect(mark, this.#living);
    let leader: number | undefined;
    try {
      const child = spawn({ [MARK_VARIABLE]: mark });
      leader = child.pid;
      return child;
    } finally {
      if (leader === undefined) this.#noneStarted();
      else this.#add(leader);
    }
  }

  #noneStarted(): void {
    // Before the guard's stdin ends: it would search the whole machine for a process that was announced and never started.
    this.#guard.remove(0);
    if (this.#living.size === 0) this.#guard.close();
  }

  #add(leader: number): void {
    if (this.#living.size === 0) process.on('exit', this.#onExit);
    this.#living.add(leader);
    this.#guard.add(leader, this.#living);
  }

  /** Kills what is left of a group whose leader is gone. */
  remove(leader: number): void {
    if (!this.#living.delete(leader)) return;
    signalGroup(leader, 'SIGKILL');
    this.#guard.remove(leader);
    if (this.#living.size > 0) return;
    process.off('exit', this.#onExit);
    this.#guard.close();
  }

  /** The last resort when this process ends without closing its upstreams. */
  killAll(): void {
    for (const leader of this.#living) signalGroup(leader, 'SIGKILL');
  }

  get size(): number {
    return this.#living.size;
  }
}
