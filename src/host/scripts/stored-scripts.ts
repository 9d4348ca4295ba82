import { HostError } from '../../domain/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import { MAX_SOURCE_BYTES } from '../../domain/limits.js';
import { CallerQuotas, quotaExceeded } from '../../domain/quotas.js';
import { isScriptName, NAME_RULE, type ScriptHead, type StoredScript } from '../../domain/script.js';
import { KeyedLock } from '../../lib/async/keyed-lock.js';
import { nearest } from '../../lib/text/nearest.js';
import { quoteVisibly, visibleText } from '../../lib/text/visible-text.js';
import { MAX_SCRIPTS, type ScriptSign, type ScriptStore, scriptDigest } from '../../store/scripts.js';
import { functionNameOf } from './script-functions.js';
import { SCRIPTS_SPECIFIER } from './scripts-module.js';

/** A script that a person or a program wants to store. */
export type NewScript = Omit<StoredScript, 'digest' | 'createdAtMs' | 'version'>;

interface AddOptions {
  readonly replaces?: boolean;
  /** The most that the caller that saved it may have; absent: any number. */
  readonly mostSaved?: number;
}

const MAX_DESCRIPTION_CHARACTERS = 500;
const MAX_SCHEMA_BYTES = 64 * 1024;
const MAX_PINS = 200;

/**
 * The programs that are stored to be run by name. Agents run them and read about them. An agent's program adds scripts only through
 * the broker (`saveFor`), if the policy or a person allows it. It never replaces or removes one.
 */
export class ScriptLibrary {
  readonly #store: () => Promise<ScriptStore>;
  readonly #sign: ScriptSign;
  readonly #quotas: CallerQuotas;
  readonly #saving = new KeyedLock();
  #opened: ScriptStore | undefined;
  /** The last listing of a store that answers asynchronously. */
  #listed: ScriptHead[] = [];
  #isListing = false;
  #isListedAgain = false;

  /** `store` is opened at the first lookup. */
  constructor(store: () => Promise<ScriptStore>, sign: ScriptSign, quotas = new CallerQuotas()) {
    this.#store = store;
    this.#sign = sign;
    this.#quotas = quotas;
  }

  /**
   * The stored scripts, for texts that are built synchronously. Empty until the store has been opened once after the first script
   * was stored. For an asynchronous store, the last listing.
   */
  known(): readonly ScriptHead[] {
    if (this.#opened === undefined) {
      void this.openIfAny();
      return [];
    }
    return this.#listNow(this.#opened);
  }

  /** Opens the store for `known`, unless nothing is stored: users without scripts do not pay for the database driver. */
  async openIfAny(): Promise<void> {
    // A store that cannot be opened only fails the runs that use a stored script.
    if (!this.#sign.isSet()) return;
    try {
      this.#listed = await (await this.#open()).list();
    } catch {
      // The next call tries again.
    }
  }

  #listNow(store: ScriptStore): readonly ScriptHead[] {
    // One run asks several times: one statement in flight is enough, and one after it for what has changed meanwhile.
    this.#isListedAgain = this.#isListing;
    if (this.#isListing) return this.#listed;
    const listed = store.list();
    if (!(listed instanceof Promise)) return listed;
    this.#isListing = true;
    void listed
      .then(
        (heads) => {
          this.#listed = heads;
        },
        () => {},
      )
      .then(() => {
        this.#isListing = false;
        if (this.#isListedAgain) this.#listNow(store);
      });
    return this.#listed;
  }

  /** The scripts that are functions of `@codemode/scripts` for a program: none if it does not name the module. */
  async functionsFor(source: string): Promise<readonly ScriptHead[]> {
    return source.includes(SCRIPTS_SPECIFIER) ? this.callable() : [];
  }

  /** The scripts that a program can run: all of them, whatever contract they are written for. */
  async callable(): Promise<readonly ScriptHead[]> {
    if (!this.#sign.isSet()) return [];
    // If the store cannot be opened, the program gets the error when it runs a script.
    return this.list().catch(() => []);
  }

  async list(): Promise<ScriptHead[]> {
    return (await this.#open()).list();
  }

  /** Throws `bad_input` if the name is invalid, `not_found` if no script has it or the version is not kept. */
  async get(name: string, version?: number): Promise<StoredScript> {
    checkName(name);
    const store = await this.#open();
    const script = await store.find(name);
    if (script !== undefined && (version === undefined || version === script.version)) return script;
    if (script !== undefined && version !== undefined) {
      const earlier = await store.find(name, version);
      if (earlier !== undefined) return earlier;
      const kept = [script.version, ...(await store.earlierVersions(name))].join(', ');
      throw new HostError('not_found', `there is no version ${version} of script ${name}; kept are: ${kept}`);
    }
    throw noSuchScript(
      name,
      (await store.list()).map((each) => each.name),
    );
  }

  /** The description of a stored script, for its next version; empty if there is none. */
  async descriptionOf(name: string): Promise<string> {
    checkName(name);
    return (await (await this.#open()).find(name))?.description ?? '';
  }

  /** Throws `bad_input` if the script cannot be stored, or if the name is taken. */
  async add(
    script: NewScript,
    { replaces = false, mostSaved }: AddOptions = {},
  ): Promise<{ script: ScriptHead; isNew: boolean }> {
    checkName(script.name);
    checkSizes(script);
    const stored = {
      ...script,
      description: visibleText(script.description).trim(),
      digest: scriptDigest(script.source),
      createdAtMs: Date.now(),
    };
    const store = await this.#open();
    await checkFunction(store, script);
    this.#sign.set();
    const added = await store.add(stored, replaces, mostSaved);
    if (added.state === 'saver_full') throw this.#fullFor(mostSaved ?? 0);
    if (added.state === 'taken')
      throw new HostError(
        'bad_input',
        `there is a script ${script.name} already; take another name, or replace it with --replace`,
      );
    if (added.state !== 'added' && added.state !== 'replaced')
      throw new HostError('bad_input', `${MAX_SCRIPTS} scripts are stored already; remove one: codemode scripts list`);
    const { source: _, ...head } = stored;
    return { script: { ...head, version: added.version }, isNew: added.state === 'added' };
  }

  /**
   * Throws `bad_input` if a new script cannot have this name, and `quota_exceeded` if the caller has saved its maximum: nobody is
   * asked to approve what would fail.
   */
  async checkFree(script: Pick<NewScript, 'name' | 'savedBy'>): Promise<void> {
    const store = await this.#open();
    if ((await store.find(script.name)) !== undefined)
      throw new HostError('bad_input', `there is a script ${script.name} already; take another name`);
    await checkFunction(store, script);
    await this.#mustHaveRoom(store, script);
  }

  /** Stores a script that the host made from a run for an agent's program, once the policy has allowed it. */
  async saveFor(made: JsonObject): Promise<JsonObject> {
    const saved = made as unknown as NewScript;
    // One at a time: concurrent saves must not all see the same last free place.
    return this.#saving.run(saved.savedBy ?? '', async () => {
      await this.#mustHaveRoom(await this.#open(), saved);
      const { script } = await this.add(saved, { mostSaved: this.#quotas.limits.saved });
      return { name: script.name, version: script.version };
    });
  }

  /** All callers see all saved scripts, and their total is bounded: one caller must not use up the room of the others. */
  async #mustHaveRoom(store: ScriptStore, { savedBy }: Pick<NewScript, 'savedBy'>): Promise<void> {
    const count = (await store.list()).filter((each) => each.savedBy === savedBy).length;
    if (savedBy === undefined || count < this.#quotas.limits.saved) return;
    throw this.#fullFor(count);
  }

  #fullFor(count: number): HostError {
    this.#quotas.countRefusal('saved');
    return quotaExceeded(
      'saved',
      `your programs have saved ${count} scripts`,
      'ask the user to remove one: codemode scripts remove NAME',
    );
  }

  /** Runs in progress keep the version they have loaded. Throws `not_found`. */
  async remove(name: string): Promise<void> {
    checkName(name);
    const store = await this.#open();
    if (!(await store.remove(name)))
      throw noSuchScript(
        name,
        (await store.list()).map((each) => each.name),
      );
  }

  async #open(): Promise<ScriptStore> {
    this.#opened ??= await this.#store();
    return this.#opened;
  }
}

/** Reads a schema that a person wrote. Throws `bad_input`. */
export function readInputSchema(json: string, where: string): JsonObject {
  let schema: JsonValue | undefined;
  try {
    schema = JSON.parse(json) as JsonValue;
  } catch {
    schema = undefined;
  }
  if (!isJsonObject(schema)) throw new HostError('bad_input', `${where} is not a JSON Schema: expected a JSON object`);
  if (schema.type !== undefined && schema.type !== 'object')
    throw new HostError(
      'bad_input',
      `${where}: the input of a script is an object, so its schema has "type": "object"`,
    );
  return schema;
}

/** Throws `bad_input`. */
export function checkName(name: string): void {
  if (!isScriptName(name))
    throw new HostError('bad_input', `${shown(name)} cannot be the name of a script; use ${NAME_RULE}`);
}

/** Two scripts must not share a function: `month-end` and `month_end`. */
async function checkFunction(store: ScriptStore, { name }: Pick<NewScript, 'name'>): Promise<void> {
  const own = functionNameOf(name);
  const other = (await store.list()).find((each) => each.name !== name && functionNameOf(each.name) === own);
  if (other !== undefined)
    throw new HostError(
      'bad_input',
      `${name} would be the function ${own} of @codemode/scripts, and so is the script ${other.name}; take another name`,
    );
}

function checkSizes({ source, description, inputSchema, outputSchema, pins = [] }: NewScript): void {
  if (Buffer.byteLength(source) > MAX_SOURCE_BYTES)
    throw new HostError(
      'bad_input',
      `the script is larger than ${MAX_SOURCE_BYTES} bytes; keep data out of the source`,
    );
  if (description.length > MAX_DESCRIPTION_CHARACTERS)
    throw new HostError(
      'bad_input',
      `the description is longer than ${MAX_DESCRIPTION_CHARACTERS} characters; shorten it`,
    );
  if (inputSchema !== undefined && Buffer.byteLength(JSON.stringify(inputSchema)) > MAX_SCHEMA_BYTES)
    throw new HostError('bad_input', `the input schema is larger than ${MAX_SCHEMA_BYTES} bytes; shorten it`);
  if (outputSchema !== undefined && Buffer.byteLength(JSON.stringify(outputSchema)) > MAX_SCHEMA_BYTES)
    throw new HostError('bad_input', `the output schema is larger than ${MAX_SCHEMA_BYTES} bytes; shorten it`);
  if (pins.length > MAX_PINS)
    throw new HostError('bad_input', `the program calls more than ${MAX_PINS} different tools; divide it`);
}

function noSuchScript(name: string, known: readonly string[]): HostError {
  const close = nearest(name, known, 3);
  const next = close.length > 0 ? `did you mean ${close.join(' or ')}?` : 'list them with: codemode scripts list';
  return new HostError('not_found', `there is no stored script ${shown(name)}; ${next}`);
}

const MAX_SHOWN_CHARACTERS = 80;

function shown(name: string): string {
  return quoteVisibly(name.length > MAX_SHOWN_CHARACTERS ? `${name.slice(0, MAX_SHOWN_CHARACTERS)}...` : name);
}
