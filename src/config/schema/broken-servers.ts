import type { JsonObject, JsonValue } from '../../domain/json.js';
import { isObject } from './server-map.js';

/** A server whose entry cannot be used. All other servers work. */
export interface DisabledServer {
  /** Its name, or its place in the list if it has no name. */
  readonly id: string;
  /** The problem and what to do, without the place in the file: programs and agents may read it. */
  readonly reason: string;
  /** Of the first mistake: `config.yaml:3:10`. */
  readonly place: string;
  /** One line per mistake, each with its place: for the person who can correct it. */
  readonly mistakes: readonly string[];
}

/** One mistake inside the entry of one server. */
export interface ServerMistake {
  /** `config.yaml:3:10`. */
  readonly place: string;
  /** `mcpServers.files.url`. */
  readonly key: string;
  readonly problem: string;
}

/** Mistakes by server. A disabled server has none: nobody needs it to be right. */
export class BrokenServers {
  readonly #entries: JsonObject;
  readonly #mistakes = new Map<string, ServerMistake[]>();
  readonly #removed = new Set<string>();

  /** `servers` as written, before any check. */
  constructor(servers: JsonValue | undefined) {
    this.#entries = isObject(servers) ? servers : {};
  }

  add(id: string, mistake: ServerMistake): void {
    this.#removed.add(id);
    if (isSwitchedOff(this.#entries[id])) return;
    this.#mistakes.set(id, [...(this.#mistakes.get(id) ?? []), mistake]);
  }

  /** Servers that must not be used, including those that are disabled anyway. */
  get ids(): ReadonlySet<string> {
    return this.#removed;
  }

  /** The same settings without these servers. */
  without(settings: JsonObject): JsonObject {
    if (!isObject(settings.mcpServers)) return settings;
    const kept = Object.entries(settings.mcpServers).filter(([id]) => !this.#removed.has(id));
    return { ...settings, mcpServers: Object.fromEntries(kept) };
  }

  list(): DisabledServer[] {
    return [...this.#mistakes].map(([id, mistakes]) => {
      const [first, ...rest] = mistakes;
      const more = rest.length === 0 ? '' : ` (and ${rest.length} more)`;
      return {
        id,
        reason: `${isDisabled(id)}: ${first?.key}: ${first?.problem}${more}`,
        place: first?.place ?? '',
        mistakes: mistakes.map(({ place, key, problem }) => `${place}: ${key}: ${problem}`),
      };
    });
  }

  /** One line for each mistake, with its place. */
  warnings(): string[] {
    return [...this.#mistakes].flatMap(([id, mistakes]) =>
      mistakes.map(({ place, key, problem }) => `${place}: ${isDisabled(id)}: ${key}: ${problem}`),
    );
  }
}

/** The text that every warning about a disabled server has. */
export function isDisabled(id: string): string {
  return `server ${JSON.stringify(id)} is disabled`;
}

/** Whether a warning is about a disabled server. */
export function isAboutDisabled(warning: string): boolean {
  return /: server "(?:[^"\\]|\\.)*" is disabled: /.test(warning);
}

function isSwitchedOff(entry: JsonValue | undefined): boolean {
  if (!isObject(entry)) return false;
  return [true, 'true'].some((each) => entry.disabled === each) || [false, 'false'].some((no) => entry.enabled === no);
}
