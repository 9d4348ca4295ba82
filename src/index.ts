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
export { Host, type Isolation } from './host/host.js';
export type { RunAnswer, RunRequest, RunSummary, SleepSummary } from './host/run.js';
export {
  type Attempt,
  attemptOf,
  type Handoff,
  runWithSelfCorrection,
  type SelfCorrectionOptions,
} from './host/self-correction.js';
export type { Session, SessionOptions } from './host/session.js';
export { codemodePresentation } from './profiles/codemode/presentation.js';
export { type RunResponse, renderResponse } from './profiles/codemode/render.js';
