import { hash } from 'node:crypto';
import type { CallerId } from '../../domain/execution.js';
import type { JsonValue } from '../../domain/json.js';
import type { Tool } from '../../domain/tool.js';
import type { ObservedTypesFile } from '../../store/observed-types-file.js';
import { ObservedTypes } from './observed-types.js';

export interface LearnedTypesOptions {
  readonly file?: ObservedTypesFile;
  /** Identifies how a server is reached: what another one returned says nothing of this one. */
  readonly fingerprintOf: (serverId: string) => string;
}

/** Several results of one program are written together. */
const SAVE_DELAY_MS = 2_000;

/**
 * What each caller has seen tools return, over the life of the program. A shape belongs to one definition of one tool of one
 * server: with another address, another schema or another description it is forgotten.
 */
export class LearnedTypes {
  readonly #options: LearnedTypesOptions;
  readonly #types: ObservedTypes;
  readonly #definitions = new WeakMap<Tool, string>();
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();

  /** Starts with what is on disk. */
  static async open(options: LearnedTypesOptions): Promise<LearnedTypes> {
    return new LearnedTypes(options, ObservedTypes.fromJson(await options.file?.read()));
  }

  private constructor(options: LearnedTypesOptions, types: ObservedTypes) {
    this.#options = options;
    this.#types = types;
  }

  /** Learns from one result, as the program saw it. */
  observe(caller: CallerId, tool: Tool, value: JsonValue): void {
    const isNews = this.#types.observe(caller, tool.serverId, tool.name, value, this.#definitionOf(tool));
    if (!isNews || this.#options.file === undefined) return;
    this.#timer ??= setTimeout(() => void this.#save(), SAVE_DELAY_MS).unref();
  }

  /** The type of what this caller has seen of a tool, or `undefined` where it has seen nothing. */
  typeOf(caller: CallerId, tool: Tool): string | undefined {
    return this.#types.typeOf(caller, tool.serverId, tool.name, this.#definitionOf(tool));
  }

  /** Writes what is not written yet. */
  async close(): Promise<void> {
    if (this.#timer !== undefined) await this.#save();
    await this.#saving;
  }

  #save(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#saving = this.#saving.then(() => this.#write());
    return this.#saving;
  }

  /** Over what is there by now: other hosts write the same file. */
  async #write(): Promise<void> {
    const { file } = this.#options;
    const onDisk = ObservedTypes.fromJson(await file?.read());
    onDisk.adopt(this.#types);
    await file?.write(onDisk.toJson());
  }

  #definitionOf(tool: Tool): string {
    let digest = this.#definitions.get(tool);
    if (digest === undefined) {
      const facts = JSON.stringify([this.#options.fingerprintOf(tool.serverId), tool]);
      digest = hash('sha256', facts, 'hex').slice(0, DIGEST_CHARACTERS);
      this.#definitions.set(tool, digest);
    }
    return digest;
  }
}

const DIGEST_CHARACTERS = 32;
