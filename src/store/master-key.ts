import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { HostError } from '../domain/errors.js';
import type { KeyKeeper, KeyPlace, KeyringChoice } from '../domain/key.js';
import { writeWhole } from '../lib/files/write-whole.js';
import type { KeyringAddress, SecretService } from './keyring/secret-service.js';
import { keepFirst, newSecret, readSecret, SECRET } from './secret-file.js';

export interface MasterKeyOptions {
  readonly stateFolder: string;
  readonly choice: KeyringChoice;
  /** Undefined if there is no desktop session. */
  readonly keyring: KeyringAddress | undefined;
}

/** The file `key` holds the key itself, or the name under which the keyring stores it. */
const IN_KEYRING = /^keyring:([\w-]{43})$/;
const EITHER = new RegExp(`${SECRET.source}|${IN_KEYRING.source}`);
/** A new key opens nothing that was sealed with the old one. */
const KEY_ADVICE =
  'restore it from a backup (32 bytes in base64url, one line, readable only by you: chmod 600). ' +
  "To start without the sealed data (logins, suspended runs, the audit log's seal), delete it";

/**
 * The key that protects every secret in this state folder. Each purpose seals with its own key derived from it.
 *
 * The file decides where the key is. It appears once, by `link`, and changes once, by `rename`. So there is one key however many
 * processes start, and an unreachable keyring is never mistaken for an unused one: with a second key, everything sealed under the
 * first would be lost.
 */
export class MasterKey implements KeyKeeper {
  readonly #options: MasterKeyOptions;
  readonly #file: string;

  constructor(options: MasterKeyOptions) {
    this.#options = options;
    this.#file = join(options.stateFolder, 'key');
  }

  /** Returns the key, and makes one if there is none. Throws `bad_config`. */
  async read(): Promise<Uint8Array> {
    const entry = (await this.#entry()) ?? (await this.#make());
    const place = placeOf(entry);
    if (this.#options.choice === 'required' && place === 'file') throw this.#misplaced('move-to-keyring', 'a file');
    if (this.#options.choice === 'file' && place === 'keyring') throw this.#misplaced('move-to-file', 'the keyring');
    return new Uint8Array(Buffer.from(await this.#secretOf(entry), 'base64url'));
  }

  /** Keeps this key where there is none yet, and returns the one that is there. */
  async readOrKeep(key: Uint8Array): Promise<Uint8Array> {
    if ((await this.#entry()) === undefined)
      await this.#make(this.#options.choice, Buffer.from(key).toString('base64url'));
    return this.read();
  }

  async check(): Promise<KeyPlace | undefined> {
    const entry = await this.#entry();
    if (entry === undefined) return undefined;
    await this.read();
    return placeOf(entry);
  }

  async moveToKeyring(): Promise<KeyPlace | undefined> {
    if (this.#options.choice === 'file') throw this.#forbidden();
    const entry = await this.#entry();
    if (entry === undefined) {
      await this.#make('required');
      return undefined;
    }
    const secret = await this.#secretOf(entry);
    if (placeOf(entry) === 'keyring') return 'keyring';
    // The file is replaced only after the keyring has given the key back.
    await this.#use((service) => service.keep(nameOf(secret), secret, this.#label), UNREACHED);
    await this.#replace(`keyring:${nameOf(secret)}`);
    return 'file';
  }

  /** The keyring keeps its entry: a copy of this state folder elsewhere may need it. */
  async moveToFile(): Promise<KeyPlace | undefined> {
    if (this.#options.choice === 'required') throw this.#forbidden();
    const entry = (await this.#entry()) ?? (await this.#make('file'));
    const secret = await this.#secretOf(entry);
    if (placeOf(entry) === 'file') return 'file';
    await this.#replace(secret);
    return 'keyring';
  }

  get #label(): string {
    return `codemode: the key of ${this.#options.stateFolder}`;
  }

  #entry(): Promise<string | undefined> {
    return readSecret({ file: this.#file, noun: 'key', shape: EITHER, advice: KEY_ADVICE });
  }

  async #secretOf(entry: string): Promise<string> {
    const name = IN_KEYRING.exec(entry)?.[1];
    if (name === undefined) return entry;
    const secret = await this.#use((service) => service.find(name), LOST);
    if (secret !== undefined && SECRET.test(secret) && nameOf(secret) === name) return secret;
    throw new HostError(
      'bad_config',
      `the keyring no longer has the key of ${this.#options.stateFolder}; restore the keyring from a backup. ` +
        `To start without the sealed data (logins, suspended runs, the audit log's seal), delete ${this.#file}`,
    );
  }

  async #make(choice = this.#options.choice, secret = newSecret()): Promise<string> {
    const isKept =
      choice !== 'file' &&
      (await this.#use((service) => service.keep(nameOf(secret), secret, this.#label), UNREACHED).then(
        () => true,
        (error: unknown) => {
          if (choice === 'required') throw error;
          return false;
        },
      ));
    let isFirst = false;
    try {
      isFirst = await this.#keepFirst(isKept ? `keyring:${nameOf(secret)}` : secret);
    } finally {
      // Nothing was sealed under this key: another process was first, or the file cannot be written.
      if (isKept && !isFirst) await this.#use((service) => service.remove(nameOf(secret)), UNREACHED).catch(() => {});
    }
    return (await this.#entry()) as string;
  }

  #keepFirst(text: string): Promise<boolean> {
    return keepFirst(this.#options.stateFolder, this.#file, text);
  }

  async #replace(text: string): Promise<void> {
    try {
      await writeWhole(this.#file, `${text}\n`, { mode: 0o600, replaces: true });
    } catch (error) {
      throw new HostError('bad_config', `${this.#file} cannot be written; the key stays where it was`, {
        cause: error,
      });
    }
  }

  async #use<Result>(act: (service: SecretService) => Promise<Result>, advice: string): Promise<Result> {
    const { KeyringUnusable, SecretService } = await import('./keyring/secret-service.js');
    try {
      return await SecretService.use(this.#options.keyring, act);
    } catch (error) {
      if (!(error instanceof KeyringUnusable)) throw error;
      throw new HostError('bad_config', `the keyring cannot be used: ${error.message}; ${advice}`, { cause: error });
    }
  }

  #forbidden(): HostError {
    const { choice } = this.#options;
    return new HostError('bad_config', `security.keyring is ${choice}; set it to auto before the key is moved`);
  }

  #misplaced(command: string, place: string): HostError {
    return new HostError(
      'bad_config',
      `security.keyring is ${this.#options.choice}, and the key of ${this.#options.stateFolder} is in ${place}; ` +
        `type: codemode auth key ${command}`,
    );
  }
}

const LOST =
  'the key is in it. Log in to the desktop or unlock it, then try again; or, where it is unlocked, move the key to a ' +
  'file: codemode auth key move-to-file';
const UNREACHED = 'unlock it and try again, or keep the key in a file with security.keyring: file';

/** The key of a state folder that stores its key in a file. */
export async function masterKey(stateFolder: string): Promise<Uint8Array> {
  return new MasterKey({ stateFolder, choice: 'file', keyring: undefined }).read();
}

function placeOf(entry: string): KeyPlace {
  return IN_KEYRING.test(entry) ? 'keyring' : 'file';
}

/** The name does not reveal the key but identifies it uniquely, so the keyring cannot return a wrong key. */
function nameOf(secret: string): string {
  return createHash('sha256').update(`codemode key ${secret}`).digest('base64url');
}
