import type { ApprovalState } from './approval.js';

/** The outcome of a call. Connection failures keep their names: see `UpstreamFailureKind`. */
export const CALL_VERDICTS = [
  'sent', // in progress; the record of its outcome has the same call id
  'ok',
  'tool_error', // the tool itself reports a failure
  'invalid_arguments',
  'invalid_output',
  'denied', // by policy or by a person
  'limited', // a rate limit, concurrency limit or budget was exceeded
  'pending', // waits for a person
  'not_sent',
  'outcome_unknown',
  'timeout',
  'cancelled',
  'refused',
  'unauthorized',
  'invalid_reply',
  'failed',
] as const;
export type CallVerdict = (typeof CALL_VERDICTS)[number];

/** The audit log also records a person's decisions and revoked grants, and redactions from the output of a program. */
export type AuditVerdict = CallVerdict | 'decided' | 'revoked' | 'output';

/** Whether an approval was needed, and its decision. */
export interface ApprovalNote {
  readonly state: ApprovalState;
  readonly id?: string;
  /** Who decided, when (ISO 8601), and why. */
  readonly by?: string;
  readonly at?: string;
  readonly reason?: string;
}

/** One recorded call, decision or output. Never contains arguments or results. */
export interface AuditEntry {
  /** Unique among all calls of all hosts. */
  readonly callId: string;
  /** When it was made, in milliseconds since 1970. */
  readonly atMs: number;
  readonly runId: string;
  readonly caller: string;
  readonly profile: string;
  readonly codeDigest: string;
  readonly serverId: string;
  readonly toolName: string;
  readonly argumentsDigest: string;
  /** Size of the answer as JSON, after redaction; null if there was no answer. */
  readonly resultBytes: number | null;
  readonly durationMs: number;
  readonly verdict: AuditVerdict;
  readonly approval: ApprovalNote;
  /** The number of redactions in the answer, by kind. */
  readonly redactions: Readonly<Record<string, number>>;
}

/** The fields that are known only when the call has ended. */
export type CallOutcome = Pick<
  AuditEntry,
  'callId' | 'resultBytes' | 'durationMs' | 'verdict' | 'approval' | 'redactions'
>;

/** An entry in its place in the chain. */
export interface AuditRecord extends AuditEntry {
  /** 1, 2, 3... without gaps. */
  readonly number: number;
  /** Covers the whole record and the hash of the previous record. */
  readonly hash: string;
}

export interface AuditFilter {
  readonly runId?: string;
  readonly serverId?: string;
  readonly toolName?: string;
  readonly sinceMs?: number;
}

/** The end of a chain: the number of records ever written, and the hash of the last one. */
export interface ChainHead {
  readonly count: number;
  readonly hash: string;
}

/** The result of verifying the whole chain. */
export interface ChainReport {
  readonly isIntact: boolean;
  /** Number of records that exist now. */
  readonly records: number;
  /** Number of the first record. Earlier records were removed because of their age, or because the chain was restarted. */
  readonly first: number;
  readonly head: ChainHead;
  /** If hosts share a database: how many chains there are. The head is that of the anchors, which name the ends of all chains. */
  readonly chains?: number;
  /** The head in the seal, if there is a seal that can be trusted. */
  readonly sealed?: ChainHead;
  /** If the chain is not intact: whether hosts refuse calls because of that. Hosts check only the end of the chain. */
  readonly callsRefused?: boolean;
  /** If the chain is not intact: the first broken place, and why. */
  readonly problem?: { readonly record: number; readonly reason: string };
  /** Why the records before the first are gone, if any are. */
  readonly cut?: { readonly count: number; readonly atMs: number; readonly reason: string };
}
