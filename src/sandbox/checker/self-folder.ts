import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A folder with one link, `exe`, that is mounted as /proc/self: the compiler asks where it lies before it does anything
 * else, and ends where nobody answers. A jail has no /proc, and this is all of it that it gets.
 */
export class SelfFolder {
  readonly path: string;

  constructor() {
    this.path = mkdtempSync(join(tmpdir(), 'codemode-checker-'));
    // The users that jails run as have to read it.
    chmodSync(this.path, 0o755);
    symlinkSync('/bin/program', join(this.path, 'exe'));
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
