/** The library: every public name, listed one by one. */
export { compose as createHost } from './compose.js';
export type { ErrorCode } from './domain/errors.js';
export { HostError, isHostError } from './domain/errors.js';
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
} from './domain/execution.js';
export type { IsolationLevel } from './domain/isolation.js';
export type { Limits } from './domain/limits.js';
export { DEFAULT_LIMITS, MAXIMUM_LIMITS } from './domain/limits.js';
export type { CallTool, ExecutionSummary } from './host/execution.js';
export type { RunOptions } from './host/host.js';
export { Host } from './host/host.js';
