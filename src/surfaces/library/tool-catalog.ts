import type { JsonObject } from '../../domain/json.js';
import type { Session } from '../../host/session.js';
import { type CatalogAnswer, getToolDefinition, searchTools } from '../../host/tools/tool-catalog.js';
import { ToolCallError } from './tool-call-error.js';

/** A tool as the manifest has it. `module` and `functions` are what programs of profile `runner` write. */
export interface ManifestEntry {
  readonly serverId: string;
  readonly toolName: string;
  readonly module: string;
  readonly functions: { readonly node: string; readonly python: string };
  readonly title?: string;
  readonly description?: string;
}

/** All that a server says of one tool. */
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

/** Which tools there are, names first and whole definitions on demand: for the author of a model's prompt. */
export class ToolCatalog {
  readonly #session: Session;

  /** Use `host.catalog`. */
  constructor(session: Session) {
    this.#session = session;
  }

  /** The tools that fit, best first. Throws `ToolCallError` for a question that is wrong, with the right one in its hint. */
  async searchTools(question: SearchQuestion = {}): Promise<ManifestEntry[]> {
    await this.#session.ready();
    return foundBy(
      searchTools({ ...question } as JsonObject, this.#session.catalogContext()),
    ) as unknown as ManifestEntry[];
  }

  /** The whole definition of one tool. Throws `ToolCallError` where there is none of that name. */
  async getToolDefinition(question: { readonly serverId: string; readonly name: string }): Promise<ToolDefinition> {
    await this.#session.ready();
    return foundBy(getToolDefinition({ ...question }, this.#session.catalogContext())) as unknown as ToolDefinition;
  }
}

function foundBy(answer: CatalogAnswer): unknown {
  if ('errorClass' in answer) throw new ToolCallError(answer);
  return answer.found;
}
