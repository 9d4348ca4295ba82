import { quoteVisibly } from '../../../lib/text/visible-text.js';

/** The differences between the places where a server's functions are declared. */
export interface ModuleFrame {
  readonly indent: string;
  open(path: string): string;
  readonly close: string;
  /** The name of the one parameter with the tool's input. */
  readonly parameterName: string;
  /** One tool, as a program calls it. */
  declare(call: DeclaredCall): string;
  /** The text after the tools of a server. */
  readonly ending: readonly string[];
  /** The result type of a call, for tools with and without a declared output. */
  resultType(output: string | undefined): string;
  /** How a program gets the whole schema of a tool. */
  schemaCall(serverId: string, toolName: string): string;
  /** Names that a definition must not take: the shared ones, and TypeScript's own that the writer uses. */
  readonly reservedTypeNames: readonly string[];
}

export interface DeclaredCall {
  /** An identifier. */
  readonly name: string;
  /** Quoted. */
  readonly serverId: string;
  readonly toolName: string;
  /** With its name: `input: { ... }`. */
  readonly parameter: string;
  readonly result: string;
}

const declareFunction = ({ name, parameter, result }: DeclaredCall) =>
  `export function ${name}(${parameter}): Promise<${result}>;\n`;

const LANGUAGE_NAMES = ['Promise', 'Record', 'Array', 'Object', 'String', 'Number', 'Boolean', 'Symbol', 'Function'];

/** A block of its own in one text with all servers. Uses the global types of `SHARED_DECLARATIONS`. */
export const AMBIENT_MODULE: ModuleFrame = {
  indent: '  ',
  parameterName: 'input',
  declare: declareFunction,
  ending: ['  export const __meta__: ServerMeta;\n'],
  open: (path) => `declare module ${quoteVisibly(`@codemode/servers/${path}`)} {\n`,
  close: '}\n',
  resultType: (output) => output ?? 'ToolOutput',
  schemaCall: (serverId, toolName) => `getTool(${serverId}, ${toolName}) of @codemode/discovery`,
  reservedTypeNames: ['ToolOutput', 'ToolResult', 'ContentBlock', 'JsonValue', 'ServerMeta', ...LANGUAGE_NAMES],
};

/** The same for a model, which pays for each word: without the parts it never needs. Uses `BRIEF_SHARED_DECLARATIONS`. */
export const BRIEF_MODULE: ModuleFrame = { ...AMBIENT_MODULE, ending: [] };

export const BRIEF_SHARED_DECLARATIONS =
  'type ToolOutput = unknown; // its text (JSON in it is not parsed), its structured value, or the whole MCP result\n';

/** `servers/<module>/index.d.ts`. Uses the types of `PACKAGE_CLIENT_DECLARATIONS`. */
export const PACKAGE_FILE: ModuleFrame = {
  indent: '',
  parameterName: 'input',
  declare: declareFunction,
  ending: ['export const __meta__: ServerMeta;\n'],
  open: () => `import type { ServerMeta, StructuredResult, ToolResult } from "../../client/mcp_client.js";\n\n`,
  close: '',
  resultType: (output) => (output === undefined ? 'ToolResult' : `StructuredResult<${output}>`),
  schemaCall: (serverId, toolName) => `catalog.getToolDefinition({ serverId: ${serverId}, name: ${toolName} })`,
  reservedTypeNames: ['ToolResult', 'StructuredResult', 'ServerMeta', ...LANGUAGE_NAMES],
};

/**
 * A module of its own for the type checker. The result of a tool without a declared output may be anything: no use of it by a
 * program is a mistake.
 */
export const CHECKED_FILE: ModuleFrame = {
  ...AMBIENT_MODULE,
  indent: '',
  ending: ['export const __meta__: any;\n'],
  open: () => '',
  close: '',
  resultType: (output) => output ?? 'any',
};

/** Overloads of the one function that a script has. They use the global types of `SCRIPT_DECLARATIONS`. */
export const SCRIPT_CALLS: ModuleFrame = {
  indent: '',
  parameterName: 'args',
  declare: ({ serverId, toolName, parameter, result }) =>
    `declare function call_tool(server: ${serverId}, tool: ${toolName}, ${parameter}): CallResult<${result}>;\n`,
  ending: [],
  open: () => '',
  close: '',
  resultType: (output) => output ?? 'JsonValue',
  schemaCall: (serverId, toolName) => `the command codemode tools ${toolName} --server ${serverId} --detail full`,
  reservedTypeNames: ['CallResult', 'JsonValue', ...LANGUAGE_NAMES],
};

/** The declarations that every script has, whatever its servers are. */
export const SCRIPT_DECLARATIONS = `/** A call blocks the script until its answer is there. It does not throw: look at \`ok\`. */
type CallResult<Value> = { ok: true; result: Value } | { ok: false; error: { message: string; code?: string } };
/**
 * Where a tool declares no output: its structured value, else its text (parsed if it is a JSON object or array), else the
 * whole MCP result.
 */
type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
/** \`input\` of the request. */
declare const input: { [key: string]: JsonValue };
/** The data of an answer or a text: JSON, JSON lines, CSV, a Markdown table, a Python literal. Throws where the call failed or there is none. */
declare function parse(answer: unknown): any;
`;

/** `client/mcp_client.d.ts`: the types that every package refers to. */
export const PACKAGE_CLIENT_DECLARATIONS = `/** What a tool answers with, as MCP has it. A call that fails throws a ToolError instead. */
export interface ToolResult {
  content: ContentBlock[];
  structuredContent?: JsonValue;
  _meta?: Record<string, unknown>;
}
/** The same of a tool that declares what it answers with. */
export interface StructuredResult<Value> {
  content: ContentBlock[];
  structuredContent: Value;
  _meta?: Record<string, unknown>;
}
/** \`data\` and \`blob\` are base64. */
export type ContentBlock =
  | { type: "text"; text: string }
  | { type: "image" | "audio"; data: string; mimeType: string }
  | { type: "resource"; resource: { uri: string; mimeType?: string; text?: string; blob?: string } }
  | { type: "resource_link"; uri: string; name: string; description?: string; mimeType?: string };
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export interface ServerMeta {
  serverId: string;
  serverName: string;
  serverVersion?: string;
  tools: { toolName: string; exportName: string }[];
}

/** A tool call that failed. */
export class ToolError extends Error {
  readonly type: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** What to do next. */
  readonly hint: string;
  readonly raw: unknown;
}

/** The data of an answer or of a text: also of JSON, JSON lines, a Python literal, CSV or a table in its text. */
export function dataOf(answer: unknown): any;

/** Calls a tool by its protocol name. */
export function callTool(serverId: string, name: string, input?: unknown): Promise<ToolResult>;
export function callTool(call: { serverId: string; name: string; arguments?: unknown }): Promise<ToolResult>;

export type ToolCallResult<Value> =
  | { ok: true; data: Value; raw: any }
  | { ok: false; error: { type: string; message: string; retryable: boolean }; raw?: any };
/** What a call came to, in one shape: the structured value, else the text where there is nothing else, else the content. */
export function normalize<Value>(call: Promise<StructuredResult<Value>>): Promise<ToolCallResult<Value>>;
export function normalize(call: Promise<ToolResult>): Promise<ToolCallResult<unknown>>;

/** A program imports \`function\` from \`servers/<module>\`. */
export interface ManifestEntry { serverId: string; toolName: string; module: string; function: string; signature?: string; title?: string; description?: string }
export interface Catalog {
  searchTools(question: { query?: string; serverId?: string; detail?: "name" | "name+description"; limit?: number }): Promise<ManifestEntry[]>;
  /** The whole definition of one tool. */
  getToolDefinition(question: { serverId: string; name: string }): Promise<Record<string, unknown>>;
}
export const catalog: Catalog;
`;

const META_DECLARATION = `interface ServerMeta {
  serverId: string;
  serverName: string;
  serverVersion?: string;
  tools: { toolName: string; exportName: string; description?: string }[];
}
`;

/** Global types that every server module's declarations use. They describe unwrapped results correctly. */
export const SHARED_DECLARATIONS = sharedDeclarations('JSON in it is not\n * parsed');

/** The same for contracts whose calls return text differently. */
export function sharedDeclarations(textRule: string): string {
  return `${outputDeclarations(textRule)}${META_DECLARATION}`;
}

/** For one text: without the types of results if no tool of it has them. */
export function sharedDeclarationsFor(text: string): string {
  return OUTPUT_NAMES.test(text) ? SHARED_DECLARATIONS : META_DECLARATION;
}

const OUTPUT_NAMES = /\b(?:ToolOutput|ToolResult|ContentBlock|JsonValue)\b/;

function outputDeclarations(textRule: string): string {
  return `/**
 * What a tool returns when it declares no output type: the text, if it answers with one text block (${textRule}); its structured value, if it sends one; otherwise the whole MCP result. A failed call throws.
 */
type ToolOutput = string | ToolResult | JsonValue;
interface ToolResult { content: ContentBlock[] }
/** \`data\` and \`blob\` are base64. */
type ContentBlock =
  | { type: "text"; text: string }
  | { type: "image" | "audio"; data: string; mimeType: string }
  | { type: "resource"; resource: { uri: string; mimeType?: string; text?: string; blob?: string } }
  | { type: "resource_link"; uri: string; name: string; description?: string; mimeType?: string };
type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
`;
}
