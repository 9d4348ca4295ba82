import * as z from 'zod';
import { HostError } from '../../domain/errors.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { UpstreamHealth } from '../../domain/upstream.js';
import type { ToolSource } from '../../host/server-control.js';
import type { ToolInfo, ToolMetadata, ToolRegistry } from './tool-registry.js';

/** A server in the words of the configuration, with its name beside them; or functions of your own. */
export interface ServerConfig {
  readonly name: string;
  /** Functions of your own, or what `fromLangChain` made. Nothing else is read then. */
  readonly tools?: unknown;
  readonly [setting: string]: unknown;
}

/** Servers of whatever kind, together: a host is one. */
export interface MCPAggregator {
  registerServer(config: ServerConfig): Promise<void>;
  unregisterServer(name: string): Promise<void>;
  discoverTools(): Promise<ToolRegistry>;
  callTool(serverName: string, toolName: string, args: JsonValue): Promise<unknown>;
  getServerHealth(): Promise<Map<string, UpstreamHealth>>;
}

/** A tool that can be called, whatever protocol is behind it. */
export interface UnifiedTool {
  /** `server.tool`. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly namespace: string;
  /** JSON Schema, as the server wrote it. The broker checks calls against it. */
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly metadata: ToolMetadata;
  /** Through policy, limits, approvals and record, like every call. Throws `ToolCallError`. */
  execute(args: JsonValue): Promise<unknown>;
}

/** Where tools come from, in one form. */
export abstract class ProtocolAdapter {
  abstract discoverTools(): Promise<UnifiedTool[]>;
  /** Throws `bad_input` for what describes no tool. */
  abstract createTool(definition: unknown): UnifiedTool;
  abstract validateTool(tool: UnifiedTool): boolean;
}

/** The tools of an aggregator: all of them, or those of one protocol. */
export class MCPProtocolAdapter extends ProtocolAdapter {
  readonly #aggregator: MCPAggregator;
  readonly #source: ToolSource | undefined;

  constructor(aggregator: MCPAggregator, source?: ToolSource) {
    super();
    this.#aggregator = aggregator;
    this.#source = source;
  }

  async discoverTools(): Promise<UnifiedTool[]> {
    const { tools } = await this.#aggregator.discoverTools();
    const found = [...tools.values()].filter(({ metadata: { source } }) => source === (this.#source ?? source));
    return found.map((tool) => this.createTool(tool));
  }

  createTool(definition: unknown): UnifiedTool {
    const parsed = toolInfo.safeParse(definition);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new HostError('bad_input', `${issue?.path.join('.') || 'the tool'}: ${issue?.message ?? 'is not valid'}`);
    }
    const { id, name, description, namespace, serverName, inputSchema, outputSchema, metadata } =
      definition as ToolInfo;
    return {
      id,
      name,
      description,
      namespace,
      inputSchema,
      ...(outputSchema === undefined ? {} : { outputSchema }),
      metadata,
      execute: (args) => this.#aggregator.callTool(serverName, name, args),
    };
  }

  /** Whether it has everything that a tool must have. */
  validateTool(tool: UnifiedTool): boolean {
    const isNamed = tool.id === `${tool.namespace}.${tool.name}`;
    return isNamed && typeof tool.execute === 'function' && unifiedTool.safeParse(tool).success;
  }
}

const unifiedTool = z.looseObject({
  id: z.string().min(1),
  name: z.string().min(1),
  description: z.string(),
  namespace: z.string().min(1),
  inputSchema: z.record(z.string(), z.unknown()),
  outputSchema: z.record(z.string(), z.unknown()).optional(),
  metadata: z.looseObject({
    source: z.enum(['mcp', 'openapi', 'native', 'langchain']),
    version: z.string(),
    tags: z.array(z.string()),
  }),
});
const toolInfo = unifiedTool.extend({ serverName: z.string().min(1) });
