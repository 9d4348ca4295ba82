/** Types of the modules that every program has, and of the one global that is not JavaScript's own. */
export const LIBRARY_DECLARATIONS = `declare var __codemode_result__: unknown;
declare module "@codemode/discovery" {
  const specVersion: string;
  function listServers(): Promise<ServerInfo[]>;
  function describeServer(serverId: string): Promise<ServerInfo & { description?: string; version?: string }>;
  function listTools(serverId: string, options?: { detail?: Detail }): Promise<ToolDefinition[]>;
  function getTool(serverId: string, toolName: string): Promise<ToolDefinition>;
  /** Ranked, best first; limit: 10 unless set, at most 100. */
  function searchTools(query: string, options?: { serverId?: string; limit?: number; detail?: Detail }):
    Promise<{ query: string; results: (ToolDefinition & { serverId: string })[] }>;
  /** "name": the names; "description" (default): + description, annotations; "full": + schemas. */
  type Detail = "name" | "description" | "full";
  interface ServerInfo { serverId: string; serverName: string; capabilities?: string[] }
  interface ToolDefinition {
    toolName: string; exportName: string; description?: string; annotations?: object;
    inputSchema?: object; outputSchema?: object;
  }
}
declare module "@codemode/errors" {
  class CodemodeError extends Error { readonly hint: string }
  /** The input does not fit the tool's schema; nothing was sent. */
  class SchemaValidationError extends CodemodeError {
    toolName: string; exportName: string; path: string; expected: unknown; received: unknown; example?: unknown;
  }
  class ToolNotFoundError extends CodemodeError {}
  class ServerNotFoundError extends CodemodeError {}
  /** The tool said it failed, its server could not be reached, a policy or a person refused. */
  class ToolCallError extends CodemodeError {}
  class AuthenticationError extends ToolCallError {}
  class SandboxLimitError extends CodemodeError {}
}
declare module "@codemode/results" {
  /** A value that was too large for an answer, by the handle that the answer gave for it. */
  function load(handle: string): Promise<unknown>;
  /** The answer of a run that was still running when its call returned. */
  function wait(runId: string): Promise<{ logs: object[]; result: unknown; diagnostics: object[]; toolTrace?: object[] }>;
}
`;
