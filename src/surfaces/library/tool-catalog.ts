import type { JsonObject } from '../../domain/json.js';
import type { Session } from '../../host/session.js';
import { type CatalogAnswer, getToolDefinition, searchTools } from '../../host/tools/tool-catalog.js';
import { ToolCallError } from './tool-call-error.js';

/** A tool as listed in the manifest. `module` and `functions` are the names that programs of profile `runner` use. */
export interface ManifestEntry {
  readonly serverId: string;
  readonly toolName: string;
  readonly module: string;
  readonly functions: { readonly node: string; readonly python: string };
  readonly title?: string;
  readonly description?: string;
}

/** Everything that a server says about one tool. */
export interface ToolDefinition extends ManifestEntry {
  readonly name: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
  readonly icons?: readonly JsonObject[];
}

export interface SearchQuestion {
  /** Absent: all tools. */
  readonly query?: string;
  readonly serverId?: string;
  readonly detail?: 'name' | 'name+description';
  readonly limit?: number;
}

/** The available tools, names first and whole definitions on demand: for authors of prompts. */
export class ToolCatalog {
  readonly #session: Session;

  /** Use `host.catalog`. */
  constructor(session: Session) {
    this.#session = session;
  }

  /** The matching tools, best first. Throws `ToolCallError` for an invalid query, with a valid one in its hint. */
  async searchTools(question: SearchQuestion = {}): Promise<ManifestEntry[]> {
    await this.#session.ready();
    return foundBy(
      searchTools({ ...question } as JsonObject, this.#session.catalogContext()),
    ) as unknown as ManifestEntry[];
  }

  /** The whole definition of one tool. Throws `ToolCallError` if there is no tool of that name. */
  async getToolDefinition(question: { readonly serverId: string; readonly name: string }): Promise<ToolDefinition> {
    await this.#session.ready();
    return foundBy(getToolDefinition({ ...question }, this.#session.catalogContext())) as unknown as ToolDefinition;
  }
}

/** As code of `execute` gets them. */
const CODES: Readonly<Record<string, string>> = {
  InvalidArguments: 'INVALID_ARGUMENTS',
  ServerNotFound: 'SERVER_NOT_FOUND',
  ToolNotFound: 'TOOL_NOT_FOUND',
};

function foundBy(answer: CatalogAnswer): unknown {
  if ('errorClass' in answer) throw new ToolCallError(answer, CODES[answer.errorClass]);
  return answer.found;
}
