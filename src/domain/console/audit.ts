import type { AuditRecord, ChainReport } from '../audit.js';

export interface AuditQuery {
  readonly runId?: string;
  readonly serverId?: string;
  readonly toolName?: string;
  readonly sinceMs?: number;
  /** Records with a smaller number. */
  readonly before?: number;
  /** At most 500. */
  readonly limit?: number;
}

/** Newest first. */
export interface AuditPage {
  readonly records: readonly AuditRecord[];
  /** For the next page. */
  readonly before?: number;
  /** Callers of codemode's own programs. Their records are marked. */
  readonly ownCallers: readonly string[];
  /** The log is switched off in the configuration. */
  readonly isOff?: true;
}
export type { AuditRecord, ChainReport };
