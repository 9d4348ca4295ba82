import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import * as z from 'zod';
import { HostError, isHostError } from '../../domain/errors.js';
import { makeFolder } from '../../lib/files/make-folder.js';
import { readRegularFile, UnreadableFile } from '../../lib/files/read-regular-file.js';
import { writeWhole } from '../../lib/files/write-whole.js';

/** One configuration that a person agreed to: this content, in this place. */
export interface TrustedFile {
  readonly path: string;
  /** `sha256:…` of the bytes that were shown. */
  readonly digest: string;
  readonly trustedAt: string;
}

const FILE_NAME = 'trusted-configs.json';
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const OTHERS = 0o077;

const listSchema = z.strictObject({
  format: z.literal(1),
  files: z.array(
    z.strictObject({
      path: z.string().startsWith('/'),
      digest: z.string().regex(/^sha256:[\da-f]{64}$/),
      trustedAt: z.iso.datetime(),
    }),
  ),
});

/**
 * The configurations that the user trusts, in one file of the state folder. If others could have written the list, nothing is
 * trusted, and the error says what to do.
 */
export class TrustedFiles {
  readonly #folder: string;
  readonly #file: string;

  constructor(stateFolder: string) {
    this.#folder = stateFolder;
    this.#file = join(stateFolder, FILE_NAME);
  }

  /** Throws `bad_config` if the list cannot be trusted. */
  async list(): Promise<readonly TrustedFile[]> {
    // In a relative folder, the list could have been shipped together with the file it vouches for.
    if (!isAbsolute(this.#folder))
      throw new HostError(
        'bad_config',
        `no file can be trusted while CODEMODE_HOME is the relative path ${JSON.stringify(this.#folder)}; set it to an absolute path`,
      );
    const text = await this.#read();
    if (text === undefined) return [];
    const parsed = listSchema.safeParse(parseJson(text));
    if (!parsed.success) throw this.#unusable('is damaged');
    return parsed.data.files;
  }

  async find(path: string): Promise<TrustedFile | undefined> {
    return (await this.list()).find((each) => each.path === path);
  }

  async add({ path, digest }: Pick<TrustedFile, 'path' | 'digest'>): Promise<void> {
    const others = (await this.list()).filter((each) => each.path !== path);
    await this.#write([...others, { path, digest, trustedAt: new Date().toISOString() }]);
  }

  /** Returns whether the file was on the list. */
  async remove(path: string): Promise<boolean> {
    const files = await this.list();
    const others = files.filter((each) => each.path !== path);
    if (others.length === files.length) return false;
    await this.#write(others);
    return true;
  }

  async #read(): Promise<string | undefined> {
    try {
      const check = ({ mode, uid }: { readonly mode: number | bigint; readonly uid: number | bigint }) => {
        if (uid !== process.getuid?.()) throw this.#unusable('belongs to another user');
        if ((Number(mode) & OTHERS) !== 0) throw this.#unusable('is open to other users');
      };
      return (await readRegularFile(this.#file, MAX_FILE_BYTES, { isNoLink: true, check })).toString('utf8');
    } catch (error) {
      if (isHostError(error)) throw error;
      if (error instanceof UnreadableFile)
        throw this.#unusable(error.why === 'too_large' ? 'is too large' : 'is not an ordinary file');
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
      throw this.#unusable(code === 'ELOOP' ? 'is a symbolic link' : `cannot be read (${code ?? 'unknown reason'})`);
    }
  }

  async #write(files: readonly TrustedFile[]): Promise<void> {
    try {
      await makeFolder(this.#folder, 0o700);
      await writeWhole(this.#file, `${JSON.stringify({ format: 1, files }, null, 2)}\n`, {
        mode: 0o600,
        replaces: true,
      });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new HostError(
        'bad_config',
        `${this.#file} could not be written (${code ?? 'unknown reason'}); set CODEMODE_HOME to a folder of yours`,
        { cause: error },
      );
    }
  }

  #unusable(why: string): HostError {
    return new HostError(
      'bad_config',
      `the list of trusted files, ${this.#file}, ${why}; delete it, then trust your files again with: codemode trust`,
    );
  }
}

/**
 * The path under which a configuration is remembered: its name in the real folder. The folder counts, because relative commands and
 * paths in the file start from there. If the name is a symbolic link, the content of its target is compared.
 */
export async function trustPath(file: string): Promise<string> {
  const absolute = resolve(file);
  return join(await realpath(dirname(absolute)).catch(() => dirname(absolute)), basename(absolute));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
