import {
  type Approval,
  type ApprovalDecision,
  coversReasons,
  type Grant,
  type GrantScope,
  type ToolIdentity,
} from '../domain/approval.js';
import type { JsonValue } from '../domain/json.js';
import { omitUndefined } from '../lib/omit-undefined.js';
import { authenticate, isAuthentic, seal, unseal } from '../lib/secrets/sealed.js';
import {
  argumentsBinding,
  decisionBinding,
  earlierBinding,
  grantBinding,
  type Subject,
  subjectOf,
} from './approval-bindings.js';
import type { GrantOptions } from './approvals.js';

/** An approval as stored in its row. */
export interface ApprovalRow {
  id: string;
  run: string;
  call: number;
  caller: string;
  server: string;
  server_fingerprint: string;
  tool: string;
  tool_digest: string;
  arguments: Buffer;
  arguments_digest: string;
  reason: string;
  state: Approval['state'];
  created_at: number;
  expires_at: number;
  decided_by: string | null;
  decided_at: number | null;
  decision_reason: string | null;
  scope: GrantScope | null;
  used_at: number | null;
  mark: Buffer | null;
}

export interface GrantRow {
  approval: string;
  expires_at: number;
  mark: Buffer;
}

/** A grant with everything that it is bound to. */
export type ListedGrantRow = GrantRow &
  Pick<ApprovalRow, 'run' | 'caller' | 'server' | 'server_fingerprint' | 'tool' | 'tool_digest'>;

/**
 * What a person is shown. It is sealed because it is the user's data, and because an attacker who can write to the database must
 * not show the arguments of one call under the name of another. Earlier versions stored only the first two fields.
 */
interface Shown {
  readonly arguments: JsonValue;
  readonly code: string;
  readonly hiddenParts?: number;
  readonly reasons?: readonly string[];
  readonly program?: string | undefined;
  /** The call they are shown for, and the reason for asking. */
  readonly of?: readonly string[];
  /** When the approval was requested, and when it expires. */
  readonly times?: readonly number[];
}

interface AsWritten {
  readonly approval: Approval;
  readonly decision: ApprovalDecision | undefined;
}

type Times = Pick<Approval, 'createdAtMs' | 'expiresAtMs'>;

/** The decision shown for a row that was decided without the key. */
const UNKNOWN = { by: 'unknown', scope: 'call' } as const;
const UNREADABLE = { arguments: null, code: '', hiddenParts: 0, reasons: [], isUnreadable: true } as const;
/** Used decisions that this process remembers, whatever the database says later. People decide more slowly than this set fills. */
const MAX_USED_HERE = 10_000;

/** Seals and authenticates what is written into approval rows. It trusts only the parts of a row that the key authenticates. */
export class ApprovalSeals {
  readonly #key: Uint8Array;
  readonly #usedHere = new Set<string>();

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** Seals what a person is shown of a new approval. */
  sealShown(approval: Approval): Buffer {
    const { id, arguments: input, code, hiddenParts, reasons, program, createdAtMs, expiresAtMs } = approval;
    const times = [createdAtMs, expiresAtMs];
    const shown: Shown = { arguments: input, code, hiddenParts, reasons, program, of: subjectOf(approval), times };
    return seal(this.#key, argumentsBinding(id), Buffer.from(JSON.stringify(shown)));
  }

  /** Authenticates a decision that has not been used. */
  markDecided(approval: Approval, state: 'APPROVED' | 'DENIED', decision: ApprovalDecision): Buffer {
    return authenticate(this.#key, decisionBinding(approval, state, decision, null));
  }

  /** Authenticates the use of the decision in this row. */
  markUsed(row: ApprovalRow, nowMs: number): Buffer | null {
    const { approval, decision } = this.#asked(row);
    return decision === undefined
      ? null
      : authenticate(this.#key, decisionBinding(approval, row.state, decision, nowMs));
  }

  noteUse(id: string): void {
    if (this.#usedHere.size >= MAX_USED_HERE) this.#usedHere.clear();
    this.#usedHere.add(id);
  }

  markGrant({ id, tool, caller }: Approval, { runId = '', expiresAtMs }: GrantOptions): Buffer {
    return authenticate(this.#key, grantBinding(tool, runId, caller, expiresAtMs, id));
  }

  isGrant(tool: ToolIdentity, run: string, caller: string, { expires_at, approval, mark }: GrantRow): boolean {
    return isAuthentic(this.#key, grantBinding(tool, run, caller, expires_at, approval), mark);
  }

  /** The grant of this row and its approval, or nothing if the key does not authenticate both. */
  readGrant(row: ListedGrantRow, approval: Approval | undefined): Grant[] {
    if (approval?.state !== 'APPROVED') return [];
    const tool = {
      serverId: row.server,
      serverFingerprint: row.server_fingerprint,
      toolName: row.tool,
      toolDigest: row.tool_digest,
    };
    if (!this.isGrant(tool, row.run, row.caller, row)) return [];
    return [{ approval, scope: row.run === '' ? 'hour' : 'run', expiresAtMs: row.expires_at }];
  }

  /** An approval whose MAC does not say that it is unused counts as used. A denial may be delivered twice. */
  isUsed(row: ApprovalRow): boolean {
    if (row.used_at !== null || this.#usedHere.has(row.id)) return true;
    return row.state === 'APPROVED' && !this.#isVouchedFor(row);
  }

  /** A decision that the key does not authenticate is read as a denial without a reason. */
  read(row: ApprovalRow): Approval {
    const { approval, decision } = this.#asked(row);
    if (decision === undefined) return approval;
    const isOurs =
      this.#isVouchedFor(row, { approval, decision }) ||
      isAuthentic(this.#key, earlierBinding(approval, row.state, decision), row.mark);
    return isOurs
      ? { ...approval, decision }
      : { ...approval, state: 'DENIED', decision: { ...UNKNOWN, atMs: decision.atMs } };
  }

  /** What people are shown, or `UNREADABLE` if it was sealed for another call. */
  #shown(row: ApprovalRow, asked: Subject & Times): Pick<Approval, keyof typeof UNREADABLE | 'program'> {
    const opened = unseal(this.#key, argumentsBinding(row.id), row.arguments);
    if (opened === undefined) return UNREADABLE;
    const shown = JSON.parse(opened.toString('utf8')) as Shown;
    const { arguments: input, code, reasons = [], program, of, times } = shown;
    if (of !== undefined && JSON.stringify(of) !== JSON.stringify(subjectOf(asked))) return UNREADABLE;
    const [createdAtMs, expiresAtMs] = times ?? [asked.createdAtMs, asked.expiresAtMs];
    if (createdAtMs !== asked.createdAtMs || expiresAtMs !== asked.expiresAtMs) return UNREADABLE;
    const hiddenParts = shown.hiddenParts ?? (JSON.stringify(input).includes('[redacted:') ? 1 : 0);
    return { arguments: input, code, hiddenParts, reasons, ...omitUndefined({ program }) };
  }

  #isVouchedFor(row: ApprovalRow, { approval, decision }: AsWritten = this.#asked(row)): boolean {
    if (decision === undefined) return false;
    return isAuthentic(this.#key, decisionBinding(approval, row.state, decision, row.used_at), row.mark);
  }

  /** What the row says, authenticated or not. */
  #asked(row: ApprovalRow): AsWritten {
    const { decided_by: by, decided_at: atMs, decision_reason: reason, scope } = row;
    const isDecided = row.state === 'APPROVED' || row.state === 'DENIED';
    const asked = {
      id: row.id,
      runId: row.run,
      call: row.call,
      caller: row.caller,
      tool: {
        serverId: row.server,
        serverFingerprint: row.server_fingerprint,
        toolName: row.tool,
        toolDigest: row.tool_digest,
      },
      argumentsDigest: row.arguments_digest,
      reason: row.reason,
      createdAtMs: row.created_at,
      expiresAtMs: row.expires_at,
    };
    return {
      approval: { ...asked, ...this.#shown(row, asked), state: row.state },
      decision: isDecided
        ? { by: by ?? '', atMs: atMs ?? 0, scope: scope ?? 'call', ...(reason === null ? {} : { reason }) }
        : undefined,
    };
  }
}

/** Pending calls of other runs were not shown to the person. Each is decided by itself, whatever is granted for later calls. */
export function isCoveredBy(approval: Approval, other: Approval): boolean {
  return (
    other.state === 'PENDING' &&
    other.id !== approval.id &&
    other.caller === approval.caller &&
    isSameTool(other.tool, approval.tool) &&
    other.isUnreadable !== true &&
    coversReasons(approval, other.reasons)
  );
}

export function isSameTool(left: ToolIdentity, right: ToolIdentity): boolean {
  return (
    left.serverId === right.serverId &&
    left.serverFingerprint === right.serverFingerprint &&
    left.toolName === right.toolName &&
    left.toolDigest === right.toolDigest
  );
}
