import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonValue } from '../../domain/json.js';
import { makeFolder } from '../../lib/files/make-folder.js';
import { readRegularFile } from '../../lib/files/read-regular-file.js';
import type { ObservedTypesStore } from '../observed-types.js';

/** Twice what one host keeps, because several may have written the file. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;

/** The types of results that tools have returned, in a file of the state folder. */
export class ObservedTypesFile implements ObservedTypesStore {
  readonly #folder: string;

  constructor(stateFolder: string) {
    this.#folder = stateFolder;
  }

  async read(): Promise<JsonValue | undefined> {
    try {
      return JSON.parse((await readRegularFile(this.#path, MAX_FILE_BYTES)).toString('utf8')) as JsonValue;
    } catch {
      return undefined;
    }
  }

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
