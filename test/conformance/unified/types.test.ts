import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { beforeAll, describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * The contract's interfaces in our own words: its fields with its types. What a program has in them goes into the library, and
 * what the library gives goes into them.
 */
const SHAPES = `
import {
  type AuthContext, type CodeModeError, createHost, defineTool, ErrorType, type ExecutionOptions, type ExecutionResult,
  type MCPAggregator, type MCPAPIDefinitions, MCPProtocolAdapter, ProtocolAdapter, type SandboxRuntime, type ToolInfo,
  type ToolRegistry, TypeScriptAPIGenerator, type TypeScriptAPIDefinition, type UnifiedTool, type CapabilitySet,
  type MCPServerConfig, type ToolMetadata, type ExecutionMetrics, type ServerInfo, type NetworkCapabilities,
  type FilesystemCapabilities, type MCPCapabilities, type ImportDefinition, type TypeDefinition, type NamespaceDefinition,
  type MethodDefinition, type ParameterDefinition, type WebSocketMessage, type ExecuteMessage, type ResultMessage,
  type LogMessage, type ToolCallResult, type HealthStatus,
} from 'codemode';
import { z as z3 } from 'zod/v3';
import { z as z4 } from 'zod';

namespace Contract {
  export interface Options {
    timeout?: number;
    memoryLimit?: number;
    typescript?: boolean;
    capabilities?: Capabilities;
    context?: Record<string, unknown>;
  }
  export interface Capabilities {
    network?: { allowedHosts?: string[]; allowedPorts?: number[]; maxRequestsPerSecond?: number; maxRequestSize?: number };
    filesystem?: { allowedPaths?: string[]; readOnly?: boolean; maxFileSize?: number; allowedExtensions?: string[] };
    mcp?: { allowedServers?: string[]; allowedTools?: string[]; maxCallsPerSecond?: number };
    system?: Record<string, unknown>;
  }
  export interface Metrics { executionTime: number; memoryUsed: number; cpuTime: number; apiCalls: number }
  export interface Failure {
    type: ErrorType;
    code: string;
    message: string;
    details?: Record<string, unknown>;
    stack?: string;
    timestamp: Date;
    requestId: string;
  }
  export interface Result { success: boolean; result?: unknown; error?: Failure; metrics: Metrics; logs: string[] }
  export interface Worker { execute(code: string, options: Options): Promise<Result> }
  export interface Runtime {
    execute(code: string, options: Options): Promise<Result>;
    createWorker(): Promise<Worker & { readonly id: string }>;
    destroyWorker(worker: Worker & { readonly id: string }): Promise<void>;
    getMetrics(): object;
  }
  export interface ServerConfig {
    name: string;
    transport: 'stdio' | 'http' | 'websocket';
    command?: string;
    args?: string[];
    url?: string;
    environment?: Record<string, string>;
    timeout?: number;
  }
  export interface Tool {
    name: string;
    serverName: string;
    description: string;
    inputSchema: { type?: string; properties?: Record<string, { type: string }>; required?: string[] };
    outputSchema?: { type?: string };
    namespace: string;
  }
  export interface Registry {
    servers: Map<string, { name: string }>;
    tools: Map<string, { name: string; serverName: string; description: string; namespace: string; inputSchema: object }>;
    namespaces: Map<string, string[]>;
  }
  export interface Aggregator {
    registerServer(config: ServerConfig): Promise<void>;
    unregisterServer(name: string): Promise<void>;
    discoverTools(): Promise<Registry>;
    callTool(serverName: string, toolName: string, args: unknown): Promise<unknown>;
    getServerHealth(): Promise<Map<string, { state: string }>>;
  }
  export interface Unified {
    id: string;
    name: string;
    description: string;
    namespace: string;
    inputSchema: { parse(value: unknown): unknown };
    outputSchema?: { parse(value: unknown): unknown };
    execute(args: unknown): Promise<unknown>;
    metadata: { source: 'mcp' | 'openapi' | 'native' | 'langchain'; version: string; tags: string[]; deprecated?: boolean };
  }
  export interface Auth {
    userId: string;
    sessionId: string;
    scopes: string[];
    capabilities: Capabilities;
    expiresAt: Date;
  }
  export interface Message {
    id: string;
    type: 'execute' | 'result' | 'error' | 'log';
    payload: unknown;
    timestamp: number;
  }
  export interface Execute extends Message { type: 'execute'; payload: { code: string; options: Options } }
  export interface Answer extends Message { type: 'result'; payload: Result }
  export interface Line extends Message {
    type: 'log';
    payload: { level: 'info' | 'warn' | 'error'; message: string };
  }
  export type Normalized<T> =
    | { ok: true; data: T; raw: any }
    | { ok: false; error: { type: string; message: string; retryable: boolean }; raw?: any };
  export interface Request { needsNetwork: boolean; mcpCalls: { serverName: string }[] }
}

const host = await createHost();

// What the library gives.
const runtime: Contract.Runtime = host;
const aggregator: Contract.Aggregator = host;
const result: Contract.Result = await host.execute('return 1');
const at: Date | undefined = result.error?.timestamp;
if (result.error?.type === ErrorType.TIMEOUT) console.log(result.error.code);
const registry: Contract.Registry = await host.discoverTools();
const unified: Contract.Unified[] = await new MCPProtocolAdapter(host).discoverTools();
const worker = await runtime.createWorker();
await runtime.destroyWorker(worker);

// What the library takes.
declare const options: Contract.Options;
declare const config: Contract.ServerConfig;
declare const auth: Contract.Auth;
declare const request: Contract.Request;
declare const anything: unknown;
await host.execute('return 1', options);
await host.execute('return 1', { context: { userId: 'user123', at: new Date(), more: anything }, auth });
await host.registerServer(config);
const called: unknown = await host.callTool('helpscout', 'searchInboxes', anything);
const exported: MCPAggregator = host;
const states: Map<string, HealthStatus> = await exported.getServerHealth();
const may: boolean = host.validateCapabilities(auth, request);
const adapters: ProtocolAdapter[] = [new MCPProtocolAdapter(host)];

// An aggregator of one's own, with tools that say no more than they must.
declare const tools: Map<string, Contract.Tool>;
const own: MCPAggregator<string> = {
  registerServer: async () => {},
  unregisterServer: async () => {},
  discoverTools: async () => ({ servers: new Map(), tools, namespaces: new Map() }),
  callTool: async () => 1,
  getServerHealth: async () => new Map([['helpscout', 'healthy']]),
};
new MCPProtocolAdapter(own).createTool({ name: 'x' } as unknown);

// An adapter of one's own, in either zod.
class FunctionAdapter extends ProtocolAdapter {
  constructor(private readonly functions: Record<string, (input: unknown) => unknown>) {
    super();
  }
  async discoverTools(): Promise<UnifiedTool[]> {
    return Object.keys(this.functions).map((name) => this.createTool({ name }));
  }
  createTool(definition: { name: string }): UnifiedTool {
    const { name } = definition;
    return {
      id: \`functions.\${name}\`,
      name,
      description: '',
      namespace: 'functions',
      inputSchema: z3.object({ query: z3.string() }),
      outputSchema: z4.object({ found: z4.number() }),
      execute: async (args) => this.functions[name]?.(args),
      metadata: { source: 'native', version: '1.0', tags: [] },
    };
  }
  validateTool(tool: UnifiedTool): boolean {
    return tool.inputSchema.safeParse({}).success;
  }
}
const text: string = new TypeScriptAPIGenerator().generateAPI(await new FunctionAdapter({}).discoverTools());

// Schemas of either zod give their types to a function.
defineTool({ input: z3.object({ n: z3.number().default(1) }), execute: ({ n }) => n.toFixed() });
defineTool({ input: z4.object({ n: z4.number().default(1) }), execute: ({ n }) => n.toFixed() });

// Definitions by hand.
const definitions = {
  helpscout: {
    namespace: 'helpscout',
    description: 'Customers',
    methods: {
      searchInboxes: {
        description: 'Finds inboxes',
        parameters: [
          { name: 'query', type: 'string', required: true, description: 'Words' },
          { name: 'limit', type: 'number', required: false, default: 50, description: 'How many' },
        ],
        returnType: 'Inbox[]',
        examples: ['await mcp.helpscout.searchInboxes("support")'],
      },
    },
  },
} as const;
const checked: MCPAPIDefinitions = definitions;
const generator = new TypeScriptAPIGenerator();
generator.generateAPI(definitions);
const definition: TypeScriptAPIDefinition = generator.defineAPI(definitions);
const optional: boolean | undefined = definition.namespaces.helpscout?.methods.searchInboxes?.parameters[0]?.optional;
// Messages of a WebSocket, both ways, and the normalised result of a call in "Code MCP".
declare const sent: Contract.Execute;
const execution: ExecuteMessage = sent;
declare const received: ResultMessage | LogMessage;
const line: Contract.Line | Contract.Answer = received;
const message: WebSocketMessage = received;
declare const normalized: Contract.Normalized<number>;
const outcome: ToolCallResult<number> = normalized;
const back: Contract.Normalized<number> = outcome;
export { back, execution, line, message };
// Each part of a type has a name of its own.
const metrics: ExecutionMetrics = result.metrics;
const info: ServerInfo | undefined = (await host.discoverTools()).servers.get('x');
const capabilities: { network: NetworkCapabilities; filesystem: FilesystemCapabilities; mcp: MCPCapabilities } = {
  network: { allowedHosts: [], allowedPorts: [], maxRequestsPerSecond: 1, maxRequestSize: 1 },
  filesystem: { allowedPaths: [], readOnly: true, maxFileSize: 1, allowedExtensions: [] },
  mcp: { allowedServers: [], allowedTools: [], maxCallsPerSecond: 1 },
};
const whole: CapabilitySet = capabilities;
const parts: {
  imports: readonly ImportDefinition[];
  types: Readonly<Record<string, TypeDefinition>>;
  namespaces: Readonly<Record<string, NamespaceDefinition>>;
} = definition;
const method: MethodDefinition | undefined = parts.namespaces.helpscout?.methods.searchInboxes;
const parameter: ParameterDefinition | undefined = method?.parameters[0];
export { info, metrics, parameter, whole };
export { adapters, aggregator, at, called, checked, may, optional, own, registry, result, text, unified };
`;

const WRONG = `
import { createHost, TypeScriptAPIGenerator } from 'codemode';
const host = await createHost();
host.validateCapabilities({ userId: 'x' }, []);
await host.registerServer({ transport: 'stdio', command: 'node' });
new TypeScriptAPIGenerator().generateAPI([{ name: 'x' }]);
export {};`;

describe('the published declarations', () => {
  let complaints: Readonly<Record<string, Complaint[]>> = {};
  // One program for both: most of the time goes into the declarations of Node and zod.
  beforeAll(() => {
    complaints = complaintsOf({ shapes: SHAPES, wrong: WRONG });
  }, 120_000);

  test("the contract's own types go in and out of the library's [C16]", () => {
    expect(complaints).toMatchObject({ shapes: [], elsewhere: [] });
  });

  test('what is none of them is refused by the compiler [C16]', () => {
    expect(complaints.wrong?.map(({ line }) => line)).toEqual([3, 4, 5]);
  });
});

interface Complaint {
  readonly line: number;
  readonly message: string;
}

/** What the compiler says of programs that have the published declarations and nothing else of ours, by their names. */
function complaintsOf(programs: Readonly<Record<string, string>>): Record<string, Complaint[]> {
  const texts = new Map(
    Object.entries(programs).map(([name, text]) => [join(ROOT, `test/conformance/unified/${name}.ts`), text]),
  );
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
    paths: { codemode: [join(ROOT, 'dist/types/index.d.ts')] },
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (name) => texts.has(name) || fileExists(name);
  host.readFile = (name) => texts.get(name) ?? readFile(name);
  host.getSourceFile = (name, version, ...rest) => {
    const text = texts.get(name);
    return text === undefined
      ? getSourceFile.call(host, name, version, ...rest)
      : ts.createSourceFile(name, text, version);
  };
  const program = ts.createProgram([...texts.keys()], options, host);
  const found = [
    ...program.getOptionsDiagnostics(),
    ...program.getSyntacticDiagnostics(),
    ...program.getSemanticDiagnostics(),
  ];
  const complaints: Record<string, Complaint[]> = { elsewhere: [] };
  for (const name of Object.keys(programs)) complaints[name] = [];
  for (const { file, start = 0, messageText } of found) {
    const name = file !== undefined && texts.has(file.fileName) ? basename(file.fileName, '.ts') : 'elsewhere';
    complaints[name]?.push({
      line: file?.getLineAndCharacterOfPosition(start).line ?? -1,
      message: ts.flattenDiagnosticMessageText(messageText, '\n'),
    });
  }
  return complaints;
}
