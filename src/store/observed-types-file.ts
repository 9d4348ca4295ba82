import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonValue } from '../domain/json.js';
import { makeFolder } from '../lib/make-folder.js';

/** Twice what a host keeps: several may have written it. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;

/**
 * The shapes of results that tools have returned, on disk: names of fields and their types, never values. Whoever reads
 * it takes it for hostile. What cannot be read is as good as absent; what cannot be written is learned again.
 */
export class ObservedTypesFile {
  readonly #folder: string;

  constructor(stateFolder: string) {
    this.#folder = stateFolder;
  }

  async read(): Promise<JsonValue | undefined> {
    try {
      if ((await stat(this.#path)).size > MAX_FILE_BYTES) return undefined;
      return JSON.parse(await readFile(this.#path, 'utf8')) as JsonValue;
    } catch {
      return undefined;
    }
  }

  /** Whole or not at all: a reader sees what one host wrote. */
  async write(types: JsonValue): Promise<void> {
    const temporary = `${this.#path}.${randomUUID()}`;
    try {
      await makeFolder(this.#folder, 0o700);
      await writeFile(temporary, JSON.stringify(types), { mode: 0o600 });
      await rename(temporary, this.#path);
    } catch {
      await rm(temporary, { force: true }).catch(() => {});
    }
  }

  get #path(): string {
    return join(this.#folder, 'observed-types.json');
  }
}
