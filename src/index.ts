/** The library: every public name, listed one by one. */
export { type CreateHostOptions, createHost, defineTool, type ServerTools, type ToolServer } from './create-host.js';
export type { ErrorCode } from './domain/errors.js';
export { HostError, isHostError } from './domain/errors.js';
export type { IsolationLevel } from './domain/isolation.js';
export type { JsonObject, JsonValue } from './domain/json.js';
export type { Limits } from './domain/limits.js';
export { DEFAULT_LIMITS as DEFAULT_RUN_LIMITS, MAXIMUM_LIMITS as MAXIMUM_RUN_LIMITS } from './domain/limits.js';
export type {
  CallerId,
  CallReply,
  Failure,
  GuestCall,
  GuestError,
  LogEntry,
  ModuleExport,
  Outcome,
  Program,
  VirtualModule,
} from './domain/run.js';
export type { ToolAnnotations } from './domain/tool.js';
export type { TraceCarrier, TraceContext } from './domain/trace.js';
export type { TypeProblem, TypeVerdict } from './domain/type-check.js';
export type { UpstreamHealth, UpstreamHealth as HealthStatus, UpstreamState } from './domain/upstream.js';
export { Host, type Isolation } from './host/host.js';
export type { RunAnswer, RunRequest, RunSummary, SuspendedSummary } from './host/runs/run-types.js';
export {
  type Attempt,
  type AttemptError,
  attemptOf,
  type Handoff,
  runWithSelfCorrection,
  type SelfCorrectionOptions,
} from './host/runs/self-correction.js';
export type { ServerFacts, ToolSource } from './host/servers/server-control.js';
export type { Session, SessionOptions } from './host/session.js';
export type { CheckingSchema, ToolSchema } from './lib/standard-schema.js';
export type { Zod3Schema } from './lib/zod-3.js';
export { codemodePresentation } from './profiles/codemode/presentation.js';
export { type RunResponse, renderResponse } from './profiles/codemode/render.js';
export { DEFAULT_LIMITS } from './profiles/unified/default-limits.js';
export type { ExecutionMetrics } from './profiles/unified/render.js';
export type {
  ManualMethod,
  ManualNamespace,
  ManualParameter,
  MCPAPIDefinitions,
} from './surfaces/library/api-definitions.js';
export {
  type ImportDefinition,
  type MethodDefinition,
  type NamespaceDefinition,
  type ParameterDefinition,
  type TypeDefinition,
  type TypeReference,
  type TypeScriptAPIDefinition,
  TypeScriptAPIGenerator,
} from './surfaces/library/api-generator.js';
export type {
  AuthContext,
  CapabilityRequest,
  CapabilitySet,
  ExecutionRequest,
  FilesystemCapabilities,
  MCPCall,
  MCPCapabilities,
  NetworkCapabilities,
  SystemCapabilities,
} from './surfaces/library/auth-context.js';
export {
  type CallOptions,
  CodemodeHost,
  CodemodeSession,
  type SessionSettings,
} from './surfaces/library/codemode-host.js';
export {
  type CodeModeError,
  type CodeModeError as ExecutionError,
  ErrorType,
  type ExecutionResult,
} from './surfaces/library/errors.js';
export {
  type MCPAggregator,
  MCPProtocolAdapter,
  ProtocolAdapter,
  type UnifiedTool,
} from './surfaces/library/protocol-adapter.js';
export type { RunOptions, RunResult } from './surfaces/library/run.js';
export type {
  ExecutionOptions,
  RuntimeMetrics,
  SandboxRuntime,
  SandboxWorker,
} from './surfaces/library/sandbox-runtime.js';
export type { AuthConfig, MCPServerConfig, RetryPolicy } from './surfaces/library/server-config.js';
export { ToolCallError } from './surfaces/library/tool-call-error.js';
export type { ToolCallResult } from './surfaces/library/tool-call-result.js';
export {
  type ManifestEntry,
  type SearchQuestion,
  ToolCatalog,
  type ToolDefinition,
} from './surfaces/library/tool-catalog.js';
export type {
  AuthRequirement,
  HostTool,
  HostTools,
  JSONSchema,
  RateLimit,
  ServerInfo,
  ToolInfo,
  ToolMetadata,
  ToolRegistry,
} from './surfaces/library/tool-registry.js';
export type {
  ExecuteMessage,
  LogMessage,
  ResultMessage,
  WebSocketMessage,
} from './surfaces/library/websocket-messages.js';
export { type ZodSchema, zodFromJsonSchema } from './surfaces/library/zod-schema.js';
export type { FunctionTool, TypedTool } from './upstream/native/function-tools.js';
export type { NativeCallContext } from './upstream/native/native-upstream.js';
