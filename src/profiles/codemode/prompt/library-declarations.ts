/** Types of the modules that every program has. Every agent reads each line: keep it short, and repeat nothing. */
export const LIBRARY_DECLARATIONS = `declare var __codemode_result__: unknown;
declare module "@codemode/discovery" {
  type Detail = "name" | "description" | "full"; // "full": with schemas
  type Tool = { toolName: string; exportName: string; signature?: string; asks?: true; description?: string; annotations?: object; inputSchema?: object; outputSchema?: object };
  type Server = { serverId: string; serverName: string; capabilities?: string[]; description?: string; version?: string };
  function searchTools(query: string, options?: { serverId?: string; limit?: number; detail?: Detail }): Promise<{ query: string; results: (Tool & { serverId: string })[] }>;
  function listTools(serverId: string, options?: { detail?: Detail }): Promise<Tool[]>;
  function getTool(serverId: string, toolName: string): Promise<Tool>;
  function getTypes(serverId: string, toolNames?: string[]): Promise<string>; // TypeScript declarations
  function listServers(): Promise<Server[]>;
  function describeServer(serverId: string): Promise<Server>;
  const specVersion: string;
}
declare module "@codemode/errors" {
  class CodemodeError extends Error { readonly hint: string }
  class SchemaValidationError extends CodemodeError { path: string; expected: unknown; received: unknown; example?: unknown } // nothing was sent
  class ToolNotFoundError extends CodemodeError {}
  class ServerNotFoundError extends CodemodeError {}
  class ToolCallError extends CodemodeError {} // the tool failed, its server was lost, a policy or a person refused
  class AuthenticationError extends ToolCallError {}
  class SandboxLimitError extends CodemodeError {}
}
declare module "@codemode/text" { function parse(text: unknown): any } // JSON, JSON lines, Python literals, CSV, Markdown tables
declare module "@codemode/results" {
  function load(handle: string, part?: { path?: string; from?: number; to?: number }): Promise<unknown>;
  function wait(runId: string): Promise<{ result: unknown; logs: object[]; diagnostics: object[]; toolTrace?: object[] }>;
}
`;
