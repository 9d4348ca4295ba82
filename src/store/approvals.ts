import {
  type Approval,
  type ApprovalDecision,
  coversReasons,
  type GrantScope,
  type ToolIdentity,
} from '../domain/approval.js';
import type { JsonValue } from '../domain/json.js';
import { authenticate, isAuthentic, seal, unseal } from '../lib/sealed.js';
import {
  argumentsBinding,
  decisionBinding,
  earlierBinding,
  grantBinding,
  type Subject,
  subjectOf,
} from './approval-bindings.js';
import type { Database, Statement } from './database.js';

interface Row {
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

/**
 * What a person is shown, sealed: it is the user's data, and who can write to the file must not show the arguments of one
 * call under the name of another. Earlier versions stored the first two only.
 */
interface Shown {
  readonly arguments: JsonValue;
  readonly code: string;
  readonly hiddenParts?: number;
  readonly reasons?: readonly string[];
  readonly program?: string | undefined;
  /** Which call they are shown for, and why it is asked. */
  readonly of?: readonly string[];
  /** When it was asked, and when it expires. */
  readonly times?: readonly number[];
}

interface Grant {
  approval: string;
  expires_at: number;
  mark: Buffer;
}

/** Decisions can be looked back at for as long; the audit keeps them for as long as it is told to. */
/** Decisions of one caller that are looked through for those of a program. */
const MAX_DECIDED_LATE = 100;
const KEPT_MS = 90 * 24 * 60 * 60 * 1000;

/** Uses that this process remembers, whatever the file says of them later. People decide more slowly than that. */
const MAX_USED_HERE = 10_000;
/** The decision of a row that nobody with the key has decided. */
const UNKNOWN = { by: 'unknown', scope: 'call' } as const;

/** What a list of the latest reads at most: each is unsealed. */
const MAX_LISTED_BYTES = 64 * 1024 * 1024;

/** A yes that reaches further than calls that wait: this tool, for one run or for every run of the caller. */
export interface GrantOptions {
  readonly runId: string | undefined;
  readonly expiresAtMs: number;
}

/** Of two people who decide at once, the first has decided. */
export type Decided =
  | { readonly isFirst: true; readonly approvals: readonly Approval[] }
  | { readonly isFirst: false; readonly approval: Approval };

/** Questions to people, kept until they are answered or nobody did in time. */
export class ApprovalStore {
  readonly #database: Database;
  readonly #key: Uint8Array;
  readonly #insert: Statement<never>;
  readonly #byId: Statement<Row>;
  readonly #idsFrom: Statement<{ id: string }>;
  readonly #byCall: Statement<Row>;
  readonly #byRun: Statement<Row>;
  readonly #denied: Statement<Row>;
  readonly #sameCall: Statement<Row>;
  readonly #decidedLate: Statement<Row>;
  readonly #pending: Statement<Row>;
  readonly #pendingIds: Statement<{ id: string }>;
  readonly #pendingOf: Statement<{ count: number; bytes: number }>;
  readonly #recent: Statement<Row>;
  readonly #decide: Statement<never>;
  readonly #expire: Statement<never>;
  readonly #closeOfRun: Statement<never>;
  readonly #closeOfEnded: Statement<never>;
  readonly #use: Statement<never>;
  readonly #forgetDecided: Statement<never>;
  readonly #forgetOldest: Statement<never>;
  readonly #forgetGrants: Statement<never>;
  readonly #findGrant: Statement<Grant>;
  readonly #putGrant: Statement<never>;
  readonly #usedHere = new Set<string>();

  constructor(database: Database, key: Uint8Array) {
    this.#database = database;
    this.#key = key;
    this.#insert = database.prepare(
      `INSERT INTO approvals (id, run, call, caller, server, server_fingerprint, tool, tool_digest, arguments,
        arguments_digest, reason, state, created_at, expires_at)
        SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'PENDING', ?, ?
        WHERE NOT EXISTS (SELECT 1 FROM approvals WHERE run = ? AND call = ? AND arguments_digest = ? AND server = ?
          AND server_fingerprint = ? AND tool = ? AND tool_digest = ? AND state = 'PENDING')`,
    );
    this.#byId = database.prepare('SELECT * FROM approvals WHERE id = ?');
    this.#idsFrom = database.prepare('SELECT id FROM approvals WHERE id >= ? ORDER BY id LIMIT ?');
    this.#byCall = database.prepare(
      'SELECT * FROM approvals WHERE run = ? AND call = ? ORDER BY created_at DESC, rowid DESC LIMIT 1',
    );
    this.#byRun = database.prepare('SELECT * FROM approvals WHERE run = ? ORDER BY call');
    this.#denied = database.prepare(
      `SELECT * FROM approvals WHERE run = ? AND arguments_digest = ? AND server = ? AND server_fingerprint = ? AND tool = ?
        AND tool_digest = ? AND state = 'DENIED' LIMIT 1`,
    );
    this.#sameCall = database.prepare(
      `SELECT * FROM approvals WHERE caller = ? AND arguments_digest = ? AND server = ? AND server_fingerprint = ? AND tool = ?
        AND tool_digest = ? AND (state = 'PENDING' OR (state IN ('APPROVED', 'DENIED') AND scope IN ('call', 'calls')))
        AND used_at IS NULL AND expires_at > ?
        ORDER BY state = 'PENDING', created_at DESC, rowid DESC`,
    );
    this.#decidedLate = database.prepare(
      `SELECT * FROM approvals WHERE caller = ? AND state IN ('APPROVED', 'DENIED') AND used_at IS NULL AND expires_at > ?
        ORDER BY decided_at DESC LIMIT ${MAX_DECIDED_LATE}`,
    );
    this.#pending = database.prepare("SELECT * FROM approvals WHERE state = 'PENDING' ORDER BY created_at, call");
    this.#pendingIds = database.prepare("SELECT id FROM approvals WHERE state = 'PENDING'");
    this.#pendingOf = database.prepare(
      `SELECT count(*) AS count, coalesce(sum(length(arguments)), 0) AS bytes FROM approvals
        WHERE caller = ? AND state = 'PENDING'`,
    );
    this.#recent = database.prepare(
      `SELECT * FROM approvals WHERE id IN (SELECT id FROM (SELECT id, sum(length(arguments)) OVER
          (ORDER BY created_at DESC, call DESC, rowid DESC) AS bytes
          FROM approvals ORDER BY created_at DESC, call DESC LIMIT ?) WHERE bytes <= ${MAX_LISTED_BYTES})
        ORDER BY created_at DESC, call DESC`,
    );
    this.#decide = database.prepare(
      `UPDATE approvals SET state = ?, decided_by = ?, decided_at = ?, decision_reason = ?, scope = ?, mark = ?
        WHERE id = ? AND state = 'PENDING'`,
    );
    this.#expire = database.prepare(
      "UPDATE approvals SET state = 'EXPIRED' WHERE state = 'PENDING' AND expires_at <= ?",
    );
    this.#closeOfRun = database.prepare("UPDATE approvals SET state = 'EXPIRED' WHERE state = 'PENDING' AND run = ?");
    this.#closeOfEnded = database.prepare(
      `UPDATE approvals SET state = 'EXPIRED' WHERE id IN (SELECT approvals.id FROM approvals
        JOIN runs ON runs.id = approvals.run AND runs.state <> 'suspended'
        WHERE approvals.caller = ? AND approvals.state = 'PENDING' ORDER BY approvals.created_at LIMIT ?)`,
    );
    this.#forgetDecided = database.prepare("DELETE FROM approvals WHERE state <> 'PENDING' AND created_at < ?");
    // Of a run that is suspended, decisions are needed when it is resumed.
    this.#forgetOldest = database.prepare(
      `DELETE FROM approvals WHERE id IN (SELECT id FROM (
          SELECT id, row_number() OVER newest AS place, sum(length(arguments)) OVER newest AS bytes FROM approvals
            WHERE caller = ?1 AND state <> 'PENDING' WINDOW newest AS (ORDER BY created_at DESC, rowid DESC))
          WHERE place > ?2 OR bytes > ?3)
        AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = approvals.run AND runs.state = 'suspended')`,
    );
    this.#forgetGrants = database.prepare('DELETE FROM grants WHERE expires_at < ?');
    this.#use = database.prepare('UPDATE approvals SET used_at = ?, mark = ? WHERE id = ?');
    this.#findGrant = database.prepare(
      `SELECT approval, expires_at, mark FROM grants WHERE run = ? AND caller = ? AND server = ?
        AND server_fingerprint = ? AND tool = ? AND tool_digest = ? AND expires_at > ?`,
    );
    this.#putGrant = database.prepare('INSERT OR REPLACE INTO grants VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  }

  /** The same question that is open already, of another host too, is not asked a second time. Gives the one that is open. */
  add(approval: Approval): Approval {
    const { id, runId, call, caller, tool, argumentsDigest, reason, createdAtMs, expiresAtMs } = approval;
    const { arguments: input, code, hiddenParts, reasons, program } = approval;
    const of = subjectOf(approval);
    const times = [createdAtMs, expiresAtMs];
    const shown: Shown = { arguments: input, code, hiddenParts, reasons, program, of, times };
    const { serverId, serverFingerprint, toolName, toolDigest } = tool;
    const sealed = seal(this.#key, argumentsBinding(id), Buffer.from(JSON.stringify(shown)));
    const changes = this.#insert.run(
      ...[id, runId, call, caller, serverId, serverFingerprint, toolName, toolDigest, sealed, argumentsDigest],
      ...[reason, createdAtMs, expiresAtMs],
      ...[runId, call, argumentsDigest, serverId, serverFingerprint, toolName, toolDigest],
    );
    return changes > 0 ? approval : (this.ofCall(runId, call) ?? approval);
  }

  find(id: string): Approval | undefined {
    const row = this.#byId.get(id);
    return row === undefined ? undefined : this.#read(row);
  }

  /** Ids that start with these characters, in order: also of what was decided or has expired. */
  idsWith(prefix: string, limit: number): string[] {
    return this.#idsFrom
      .all(prefix, limit)
      .map(({ id }) => id)
      .filter((id) => id.startsWith(prefix));
  }

  /** The latest question about this call of this run. */
  ofCall(runId: string, call: number): Approval | undefined {
    const row = this.#byCall.get(runId, call);
    return row === undefined ? undefined : this.#read(row);
  }

  ofRun(runId: string): Approval[] {
    return this.#byRun.all(runId).map((row) => this.#read(row));
  }

  /** A no to a call of this run with the same tool and arguments. */
  deniedOfRun(runId: string, tool: ToolIdentity, argumentsDigest: string): Approval | undefined {
    const { serverId, serverFingerprint, toolName, toolDigest } = tool;
    const row = this.#denied.get(runId, argumentsDigest, serverId, serverFingerprint, toolName, toolDigest);
    return row === undefined ? undefined : this.#read(row);
  }

  /**
   * Questions about the same call of this program, whose runs could not be suspended: decisions that came too late for
   * them and that no later run has used, the newest first, then those without a decision.
   */
  ofSameCall({ tool, argumentsDigest, caller, program }: SameCall, nowMs: number): Approval[] {
    const { serverId, serverFingerprint, toolName, toolDigest } = tool;
    return this.#sameCall
      .all(caller, argumentsDigest, serverId, serverFingerprint, toolName, toolDigest, nowMs)
      .filter((row) => !this.#isUsed(row))
      .map((row) => this.#read(row))
      .filter((approval) => approval.program === program);
  }

  /** Decisions about calls of this program, of whatever scope, that no run has used. */
  decidedLate(caller: string, program: string, nowMs: number): Approval[] {
    return this.#decidedLate
      .all(caller, nowMs)
      .filter((row) => !this.#isUsed(row))
      .map((row) => this.#read(row))
      .filter((approval) => approval.program === program);
  }

  pending(): Approval[] {
    return this.#pending.all().map((row) => this.#read(row));
  }

  /** Cheaper than the questions themselves, of which there may be many. */
  pendingIds(): Set<string> {
    return new Set(this.#pendingIds.all().map(({ id }) => id));
  }

  /** How many questions of a caller are open, and how much they take on disk. */
  pendingOf(caller: string): { readonly count: number; readonly bytes: number } {
    return this.#pendingOf.get(caller) ?? { count: 0, bytes: 0 };
  }

  recent(limit: number): Approval[] {
    return this.#recent.all(limit).map((row) => this.#read(row));
  }

  /** Closes the questions that nobody answered in time. */
  expire(nowMs: number): number {
    return this.#expire.run(nowMs);
  }

  /** Closes the questions of one run, whose calls nobody will make. */
  closeOfRun(runId: string): number {
    return this.#closeOfRun.run(runId);
  }

  /** Closes up to `most` questions of this caller, the oldest first, whose runs have ended: a yes to them makes no call. */
  closeOfEnded(caller: string, most: number): number {
    return this.#closeOfEnded.run(caller, most);
  }

  isUsed(id: string): boolean {
    const row = this.#byId.get(id);
    return row === undefined || this.#isUsed(row);
  }

  /** Whether nobody has used this answer before. */
  use(id: string, nowMs = Date.now()): boolean {
    return this.#database.transaction(() => {
      const row = this.#byId.get(id);
      if (row === undefined || this.#isUsed(row)) return false;
      const { approval, decision } = this.#asked(row);
      const mark = decision && authenticate(this.#key, decisionBinding(approval, row.state, decision, nowMs));
      this.#use.run(nowMs, mark ?? null, id);
      if (this.#usedHere.size >= MAX_USED_HERE) this.#usedHere.clear();
      this.#usedHere.add(id);
      return true;
    });
  }

  /** A yes whose mark does not say that it is unused counts as used. A no may be told twice. */
  #isUsed(row: Row): boolean {
    if (row.used_at !== null || this.#usedHere.has(row.id)) return true;
    return row.state === 'APPROVED' && !this.#isVouchedFor(row);
  }

  /**
   * Writes down what a person said: of the one question, of the others that were decided with it by their ids, and where a
   * grant is given of those that it covers. Undefined where there is no such question.
   */
  decide(
    id: string,
    state: 'APPROVED' | 'DENIED',
    decision: ApprovalDecision,
    { others = [], grant }: DecideOptions = {},
  ): Decided | undefined {
    return this.#database.transaction(() => {
      const approval = this.find(id);
      if (approval === undefined) return undefined;
      if (approval.state !== 'PENDING') return { isFirst: false, approval };
      const isGrant = decision.scope === 'run' || decision.scope === 'hour';
      const named = others.flatMap((other) => (other === id ? [] : (this.find(other) ?? [])));
      const covered = [
        approval,
        ...named.filter((other) => other.state === 'PENDING'),
        ...(isGrant ? this.#othersOfRun(approval, new Set(others)) : []),
      ];
      for (const each of covered) this.#write(each, state, decision);
      if (state === 'APPROVED' && grant !== undefined) this.#grant(approval, grant);
      return { isFirst: true, approvals: covered.map((each) => ({ ...each, state, decision })) };
    });
  }

  /** Forgets the oldest decided and expired approvals of a caller, beyond so many and so many bytes. */
  forgetOldest(caller: string, most: { readonly count: number; readonly bytes: number }): number {
    return this.#forgetOldest.run(caller, most.count, most.bytes);
  }

  /** Forgets what was decided long ago, and permissions that are over. */
  prune(nowMs: number): void {
    this.#database.transaction(() => {
      this.#forgetDecided.run(nowMs - KEPT_MS);
      this.#forgetGrants.run(nowMs);
    });
  }

  /**
   * The approval by which this tool may be called for these reasons without asking again: of the run, where there is one, or
   * of the caller.
   */
  grantFor(tool: ToolIdentity, { runId, caller, reasons }: GrantQuestion, nowMs: number): Approval | undefined {
    for (const run of runId === undefined ? [''] : [runId, '']) {
      const { serverId, serverFingerprint, toolName, toolDigest } = tool;
      const found = this.#findGrant.get(run, caller, serverId, serverFingerprint, toolName, toolDigest, nowMs);
      if (found === undefined) continue;
      const binding = grantBinding(tool, run, caller, found.expires_at, found.approval);
      const approval = isAuthentic(this.#key, binding, found.mark) ? this.find(found.approval) : undefined;
      if (approval?.state === 'APPROVED' && coversReasons(approval, reasons)) return approval;
    }
    return undefined;
  }

  /** Calls of other runs that wait were not shown: each is decided by itself, whatever is granted for later calls. */
  #othersOfRun(approval: Approval, named: ReadonlySet<string>): Approval[] {
    return this.ofRun(approval.runId).filter(
      (other) =>
        other.state === 'PENDING' &&
        other.id !== approval.id &&
        !named.has(other.id) &&
        other.caller === approval.caller &&
        isSameTool(other.tool, approval.tool) &&
        other.isUnreadable !== true &&
        coversReasons(approval, other.reasons),
    );
  }

  #write(approval: Approval, state: 'APPROVED' | 'DENIED', decision: ApprovalDecision): void {
    const { by, atMs, reason, scope } = decision;
    const mark = authenticate(this.#key, decisionBinding(approval, state, decision, null));
    this.#decide.run(state, by, atMs, reason ?? null, scope, mark, approval.id);
  }

  #grant({ id, tool, caller }: Approval, { runId = '', expiresAtMs }: GrantOptions): void {
    const { serverId, serverFingerprint, toolName, toolDigest } = tool;
    const mark = authenticate(this.#key, grantBinding(tool, runId, caller, expiresAtMs, id));
    this.#putGrant.run(runId, caller, serverId, serverFingerprint, toolName, toolDigest, expiresAtMs, id, mark);
  }

  /** What people are shown; `UNREADABLE` if it was sealed for another call. */
  #shown(row: Row, asked: Subject & Times): Pick<Approval, keyof typeof UNREADABLE | 'program'> {
    const opened = unseal(this.#key, argumentsBinding(row.id), row.arguments);
    if (opened === undefined) return UNREADABLE;
    const shown = JSON.parse(opened.toString('utf8')) as Shown;
    const { arguments: input, code, reasons = [], program, of, times } = shown;
    if (of !== undefined && JSON.stringify(of) !== JSON.stringify(subjectOf(asked))) return UNREADABLE;
    const [createdAtMs, expiresAtMs] = times ?? [asked.createdAtMs, asked.expiresAtMs];
    if (createdAtMs !== asked.createdAtMs || expiresAtMs !== asked.expiresAtMs) return UNREADABLE;
    const hiddenParts = shown.hiddenParts ?? (JSON.stringify(input).includes('[redacted:') ? 1 : 0);
    return { arguments: input, code, hiddenParts, reasons, ...(program === undefined ? {} : { program }) };
  }

  /** A decision that the key does not vouch for is a no, without its words. */
  #read(row: Row): Approval {
    const { approval, decision } = this.#asked(row);
    if (decision === undefined) return approval;
    const isOurs =
      this.#isVouchedFor(row, { approval, decision }) ||
      isAuthentic(this.#key, earlierBinding(approval, row.state, decision), row.mark);
    return isOurs
      ? { ...approval, decision }
      : { ...approval, state: 'DENIED', decision: { ...UNKNOWN, atMs: decision.atMs } };
  }

  #isVouchedFor(row: Row, { approval, decision }: AsWritten = this.#asked(row)): boolean {
    if (decision === undefined) return false;
    return isAuthentic(this.#key, decisionBinding(approval, row.state, decision, row.used_at), row.mark);
  }

  /** What the row says, vouched for or not. */
  #asked(row: Row): AsWritten {
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

interface AsWritten {
  readonly approval: Approval;
  readonly decision: ApprovalDecision | undefined;
}

type Times = Pick<Approval, 'createdAtMs' | 'expiresAtMs'>;

/** With a wider scope, for which further calls. */
interface DecideOptions {
  /** Ids of the questions that were decided together with it. */
  readonly others?: readonly string[];
  readonly grant?: GrantOptions | undefined;
}

/** A call that is looked up among grants. */
export interface GrantQuestion {
  /** Undefined for a call that belongs to no run. */
  readonly runId: string | undefined;
  readonly caller: string;
  readonly reasons: readonly string[];
}

type SameCall = Pick<Approval, 'tool' | 'argumentsDigest' | 'caller' | 'program'>;

const UNREADABLE = { arguments: null, code: '', hiddenParts: 0, reasons: [], isUnreadable: true } as const;

export function isSameTool(left: ToolIdentity, right: ToolIdentity): boolean {
  return (
    left.serverId === right.serverId &&
    left.serverFingerprint === right.serverFingerprint &&
    left.toolName === right.toolName &&
    left.toolDigest === right.toolDigest
  );
}
