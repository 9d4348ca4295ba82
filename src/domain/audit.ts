import type { ApprovalState } from './approval.js';

/** What became of a call. The failures of a connection keep their names: see `UpstreamFailureKind`. */
export const CALL_VERDICTS = [
  'sent', // in progress; the record of its outcome has the same call id
  'ok',
  'tool_error', // the tool itself says that it failed
  'invalid_arguments',
  'invalid_output',
  'denied', // by policy or by a person
  'limited', // too many, too fast, too expensive
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

/** What is on record besides calls: a person's decision, and what was redacted from the output of a program. */
export type AuditVerdict = CallVerdict | 'decided' | 'output';

/** Whether an approval was needed, and its decision. */
export interface ApprovalNote {
  readonly state: ApprovalState;
  readonly id?: string;
  /** Who decided, when (ISO 8601), and why. */
  readonly by?: string;
  readonly at?: string;
  readonly reason?: string;
}

/** One call, or a decision or an output, as it is remembered. Never its arguments or its result. */
export interface AuditEntry {
  /** Its own among all calls of all hosts. */
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
  /** Of the answer as JSON, after redaction; absent where there was none. */
  readonly resultBytes: number | null;
  readonly durationMs: number;
  readonly verdict: AuditVerdict;
  readonly approval: ApprovalNote;
  /** The number of redactions in the answer, by kind. */
  readonly redactions: Readonly<Record<string, number>>;
}

/** What is known of a call only when it has ended. */
export type CallOutcome = Pick<
  AuditEntry,
  'callId' | 'resultBytes' | 'durationMs' | 'verdict' | 'approval' | 'redactions'
>;

/** The same in its place in the chain. */
export interface AuditRecord extends AuditEntry {
  /** 1, 2, 3... without gaps. */
  readonly number: number;
  /** Covers all of the record and the hash of the one before. */
  readonly hash: string;
}

export interface AuditFilter {
  readonly runId?: string;
  readonly serverId?: string;
  readonly toolName?: string;
  readonly sinceMs?: number;
}

/** The end of a chain: how many records there have been, and the hash of the last. */
export interface ChainHead {
  readonly count: number;
  readonly hash: string;
}

/** The result of verifying the whole chain. */
export interface ChainReport {
  readonly isIntact: boolean;
  /** Records that are there now. */
  readonly records: number;
  /** The first record. Earlier ones were removed because of their age, or because the chain was restarted. */
  readonly first: number;
  readonly head: ChainHead;
  /** What the sealed head says, where there is one that can be believed. */
  readonly sealed?: ChainHead;
  /** If it is not intact: whether hosts refuse calls because of it. Hosts check only the end of the chain. */
  readonly callsRefused?: boolean;
  /** Set where it is not intact: the first place, and why. */
  readonly problem?: { readonly record: number; readonly reason: string };
  /** Why the records before the first are gone, where some are. */
  readonly cut?: { readonly count: number; readonly atMs: number; readonly reason: string };
}
