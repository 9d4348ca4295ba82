import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A folder with one link, `exe`, that is mounted as /proc/self. The compiler resolves its own path first of all, and exits if that
 * fails. A jail has no /proc, and this is the only part of it that the compiler gets.
 */
export class SelfFolder {
  readonly path: string;

  constructor() {
    this.path = mkdtempSync(join(tmpdir(), 'codemode-checker-'));
    // The users that jails run as must be able to read it.
    chmodSync(this.path, 0o755);
    symlinkSync('/bin/program', join(this.path, 'exe'));
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
