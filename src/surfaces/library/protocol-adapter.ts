import * as z from 'zod';
import { HostError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import { UPSTREAM_KINDS, type UpstreamHealth } from '../../domain/upstream.js';
import type { ToolSource } from '../../host/servers/server-control.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { plainJson } from './plain-json.js';
import type { MCPServerConfig } from './server-config.js';
import type { ToolInfo, ToolMetadata, ToolRegistry } from './tool-registry.js';
import { isZodSchema, type ZodSchema, zodFromJsonSchema } from './zod-schema.js';

/** Servers of all kinds together: a host is one. `Health`: what your own aggregator reports about a server. */
export interface MCPAggregator<Health = UpstreamHealth> {
  registerServer(config: MCPServerConfig): Promise<void>;
  unregisterServer(name: string): Promise<void>;
  discoverTools(): Promise<ToolRegistry>;
  callTool(serverName: string, toolName: string, args: unknown): Promise<unknown>;
  getServerHealth(): Promise<Map<string, Health>>;
}

/** A callable tool, independent of its protocol. */
export interface UnifiedTool {
  /** `server.tool`. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Code calls the tool as `mcp.<namespace>.<name>`. */
  readonly namespace: string;
  readonly inputSchema: ZodSchema;
  readonly outputSchema?: ZodSchema | undefined;
  /** Subject to policy, limits, approvals and audit log, like every call. Throws `ToolCallError`. */
  execute(args: unknown): Promise<unknown>;
  readonly metadata: ToolMetadata;
}

/** A source of tools, in one common form. */
export abstract class ProtocolAdapter {
  abstract discoverTools(): Promise<UnifiedTool[]>;
  /** Throws `bad_input` if the definition does not describe a tool. */
  abstract createTool(definition: unknown): UnifiedTool;
  abstract validateTool(tool: UnifiedTool): boolean;
}

/** The tools of an aggregator: all of them, or those of one protocol. */
export class MCPProtocolAdapter extends ProtocolAdapter {
  readonly #aggregator: Pick<MCPAggregator, 'discoverTools' | 'callTool'>;
  readonly #source: ToolSource | undefined;

  /** Throws `bad_input` if the value is not an aggregator, or there is no such source. */
  constructor(aggregator: Pick<MCPAggregator, 'discoverTools' | 'callTool'>, source?: ToolSource) {
    super();
    if (typeof aggregator?.discoverTools !== 'function' || typeof aggregator.callTool !== 'function')
      throw new HostError(
        'bad_input',
        'MCPProtocolAdapter takes an aggregator: a host, or what has its discoverTools and callTool',
      );
    if (source !== undefined && !UPSTREAM_KINDS.includes(source))
      throw new HostError('bad_input', `MCPProtocolAdapter: source: expected one of ${UPSTREAM_KINDS.join(', ')}`);
    this.#aggregator = aggregator;
    this.#source = source;
  }

  async discoverTools(): Promise<UnifiedTool[]> {
    const tools = listOf(await this.#aggregator.discoverTools());
    const created = tools.map((tool) => this.createTool(tool));
    return created.filter(({ metadata: { source } }) => source === (this.#source ?? source));
  }

  /** Makes a tool from an aggregator's listing. Missing fields get the defaults of an MCP tool. */
  createTool(definition: unknown): UnifiedTool {
    const parsed = toolInfo.safeParse(definition);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const place = issue?.path.map(String).join('.') || 'the tool';
      throw new HostError('bad_input', `createTool: ${place}: ${issue?.message ?? 'is not valid'}`);
    }
    const { id, name, description, namespace, serverName, inputSchema, outputSchema, version, metadata } =
      definition as ToolInfo & { readonly id?: string; readonly version?: string; readonly metadata?: ToolMetadata };
    return {
      id: id ?? `${serverName}.${name}`,
      name,
      description,
      namespace,
      inputSchema: schemaOf(inputSchema, 'inputSchema'),
      ...omitUndefined({
        outputSchema: ifDefined(outputSchema, (outputSchema) => schemaOf(outputSchema, 'outputSchema')),
      }),
      execute: (args) => this.#aggregator.callTool(serverName, name, args),
      metadata: metadata ?? { source: 'mcp', version: version ?? '1.0', tags: [] },
    };
  }

  /** Whether it has every required field, and an id of the form `server.tool`. */
  validateTool(tool: UnifiedTool): boolean {
    return isUnifiedTool(tool);
  }
}

export function isUnifiedTool(tool: unknown): tool is UnifiedTool {
  try {
    const parsed = unifiedTool.safeParse(tool);
    return parsed.success && serverOfId(parsed.data) !== undefined;
  } catch {
    // A member that throws when it is read is not a tool's.
    return false;
  }
}

/** The tools of a registry. Someone else's aggregator may give anything. */
function listOf(registry: unknown): unknown[] {
  const tools: unknown = typeof registry === 'object' && registry !== null ? Reflect.get(registry, 'tools') : undefined;
  if (tools instanceof Map || Array.isArray(tools)) return [...tools.values()];
  throw new HostError('bad_input', 'discoverTools of the aggregator: tools: expected a map of tools');
}

/** The server in an id of the form `server.tool`, or `server.tool__2` if another tool has that id. */
export function serverOfId({ id, name }: Pick<UnifiedTool, 'id' | 'name'>): string | undefined {
  for (const text of [id, id.replace(/__\d+$/, '')])
    if (text.endsWith(`.${name}`) && text.length > name.length + 1) return text.slice(0, -name.length - 1);
  return undefined;
}

function schemaOf(schema: object, place: string): ZodSchema {
  return isZodSchema(schema) ? schema : zodFromJsonSchema(plainJson(schema, `createTool: ${place}`) as JsonObject);
}

const metadata = z.looseObject({
  source: z.enum(UPSTREAM_KINDS),
  version: z.string(),
  tags: z.array(z.string()),
  deprecated: z.boolean().optional(),
  rateLimit: z.looseObject({}).optional(),
  auth: z.looseObject({}).optional(),
});
const common = {
  name: z.string().min(1),
  description: z.string(),
  namespace: z.string().min(1),
};
const aSchema = z.custom<ZodSchema>(isZodSchema, 'must be a zod schema');
const unifiedTool = z.looseObject({
  ...common,
  id: z.string().min(1),
  inputSchema: aSchema,
  outputSchema: aSchema.optional(),
  execute: z.custom((value) => typeof value === 'function', 'must be a function'),
  metadata,
});
const aJsonSchema = z.custom(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be a JSON Schema: an object',
);
const toolInfo = z.looseObject({
  ...common,
  serverName: z.string().min(1),
  id: z.string().min(1).optional(),
  inputSchema: aJsonSchema,
  outputSchema: aJsonSchema.optional(),
  version: z.string().optional(),
  metadata: metadata.optional(),
});
