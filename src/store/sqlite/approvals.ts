import {
  type Approval,
  type ApprovalDecision,
  coversReasons,
  type Grant,
  type ToolIdentity,
} from '../../domain/approval.js';
import { tooManyApprovals } from '../../domain/quotas.js';
import type { Stop } from '../../lib/async/awaitable.js';
import { type ApprovalRow, ApprovalSeals, isCoveredBy } from '../approval-seals.js';
import type { ApprovalStore, Decided, DecideOptions, GrantOptions, GrantQuery, SameCall } from '../approvals.js';
import { type ApprovalStatements, prepareApprovalStatements } from './approval-statements.js';
import type { Database } from './database.js';

/** How long decisions are kept. The audit log has its own retention. */
const KEPT_MS = 90 * 24 * 60 * 60 * 1000;
/** How often the file is polled while a call waits, because people decide through other processes. */
const LOOK_EVERY_MS = 200;

/** Approvals in the SQLite file of a state folder. */
export class SqliteApprovalStore implements ApprovalStore {
  readonly #database: Database;
  readonly #statements: ApprovalStatements;
  readonly #seals: ApprovalSeals;

  constructor(database: Database, key: Uint8Array) {
    this.#database = database;
    this.#seals = new ApprovalSeals(key);
    this.#statements = prepareApprovalStatements(database);
  }

  add(approval: Approval, most = Number.POSITIVE_INFINITY): Approval {
    const { id, runId, call, caller, tool, argumentsDigest, reason, createdAtMs, expiresAtMs } = approval;
    const { count } = this.pendingOf(caller);
    if (count >= most) throw tooManyApprovals(count);
    const identity = identityOf(tool);
    const changes = this.#statements.insert.run(
      ...[id, runId, call, caller, ...identity, this.#seals.sealShown(approval), argumentsDigest],
      ...[reason, createdAtMs, expiresAtMs],
      ...[runId, call, argumentsDigest, ...identity],
    );
    return changes > 0 ? approval : (this.ofCall(runId, call) ?? approval);
  }

  find(id: string): Approval | undefined {
    return this.#read(this.#statements.byId.get(id));
  }

  idsWith(prefix: string, limit: number): string[] {
    return this.#statements.idsFrom
      .all(prefix, limit)
      .map(({ id }) => id)
      .filter((id) => id.startsWith(prefix));
  }

  ofCall(runId: string, call: number): Approval | undefined {
    return this.#read(this.#statements.byCall.get(runId, call));
  }

  ofRun(runId: string): Approval[] {
    return this.#readAll(this.#statements.byRun.all(runId));
  }

  ofRuns(runIds: readonly string[]): Approval[] {
    return runIds.flatMap((runId) => this.ofRun(runId));
  }

  deniedOfRun(runId: string, tool: ToolIdentity, argumentsDigest: string): Approval | undefined {
    return this.#read(this.#statements.denied.get(runId, argumentsDigest, ...identityOf(tool)));
  }

  ofSameCall({ tool, argumentsDigest, caller, program }: SameCall, nowMs: number): Approval[] {
    const rows = this.#statements.sameCall.all(caller, argumentsDigest, ...identityOf(tool), nowMs);
    return this.#unusedOf(rows, program);
  }

  decidedLate(caller: string, program: string, nowMs: number): Approval[] {
    return this.#unusedOf(this.#statements.decidedLate.all(caller, nowMs), program);
  }

  #unusedOf(rows: readonly ApprovalRow[], program: string | undefined): Approval[] {
    const unused = rows.filter((row) => !this.#seals.isUsed(row));
    return this.#readAll(unused).filter((approval) => approval.program === program);
  }

  settledOf(ids: readonly string[]): Approval[] {
    const pending = this.pendingIds();
    const others = ids.filter((id) => !pending.has(id)).flatMap((id) => this.find(id) ?? []);
    return others.filter(({ state }) => state !== 'PENDING');
  }

  pending(): Approval[] {
    return this.#readAll(this.#statements.pending.all());
  }

  pendingIds(): ReadonlySet<string> {
    return new Set(this.#statements.pendingIds.all().map(({ id }) => id));
  }

  pendingOf(caller: string): { readonly count: number; readonly bytes: number } {
    return this.#statements.pendingOf.get(caller) ?? { count: 0, bytes: 0 };
  }

  recent(limit: number): Approval[] {
    return this.#readAll(this.#statements.recent.all(limit));
  }

  expire(nowMs: number): number {
    return this.#statements.expire.run(nowMs);
  }

  watch(look: () => void): Stop {
    const timer = setInterval(look, LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }

  closeOfRun(runId: string): number {
    return this.#statements.closeOfRun.run(runId);
  }

  closeOfEnded(caller: string, most: number): number {
    return this.#statements.closeOfEnded.run(caller, most);
  }

  isUsed(id: string): boolean {
    const row = this.#statements.byId.get(id);
    return row === undefined || this.#seals.isUsed(row);
  }

  use(id: string, nowMs = Date.now()): boolean {
    return this.#database.transaction(() => {
      const row = this.#statements.byId.get(id);
      if (row === undefined || this.#seals.isUsed(row)) return false;
      this.#statements.use.run(nowMs, this.#seals.markUsed(row, nowMs), id);
      this.#seals.noteUse(id);
      return true;
    });
  }

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

  forgetOldest(caller: string, most: { readonly count: number; readonly bytes: number }): number {
    return this.#statements.forgetOldest.run(caller, most.count, most.bytes);
  }

  prune(nowMs: number): void {
    this.#database.transaction(() => {
      this.#statements.forgetDecided.run(nowMs - KEPT_MS);
      this.#statements.forgetGrants.run(nowMs);
    });
  }

  grantFor(tool: ToolIdentity, { runId, caller, reasons }: GrantQuery, nowMs: number): Approval | undefined {
    for (const run of runId === undefined ? [''] : [runId, '']) {
      const found = this.#statements.findGrant.get(run, caller, ...identityOf(tool), nowMs);
      if (found === undefined) continue;
      const approval = this.#seals.isGrant(tool, run, caller, found) ? this.find(found.approval) : undefined;
      if (approval?.state === 'APPROVED' && coversReasons(approval, reasons)) return approval;
    }
    return undefined;
  }

  grants(nowMs: number): Grant[] {
    return this.#statements.grants.all(nowMs).flatMap((row) => this.#seals.readGrant(row, this.find(row.approval)));
  }

  revokeGrant(id: string): boolean {
    return this.#statements.revokeGrant.run(id) > 0;
  }

  #othersOfRun(approval: Approval, named: ReadonlySet<string>): Approval[] {
    return this.ofRun(approval.runId).filter((other) => !named.has(other.id) && isCoveredBy(approval, other));
  }

  #write(approval: Approval, state: 'APPROVED' | 'DENIED', decision: ApprovalDecision): void {
    const { by, atMs, reason, scope } = decision;
    const mark = this.#seals.markDecided(approval, state, decision);
    this.#statements.decide.run(state, by, atMs, reason ?? null, scope, mark, approval.id);
  }

  #grant(approval: Approval, grant: GrantOptions): void {
    const { id, tool, caller } = approval;
    const { runId = '', expiresAtMs } = grant;
    const mark = this.#seals.markGrant(approval, grant);
    this.#statements.putGrant.run(runId, caller, ...identityOf(tool), expiresAtMs, id, mark);
  }

  #read(row: ApprovalRow | undefined): Approval | undefined {
    return row === undefined ? undefined : this.#seals.read(row);
  }

  #readAll(rows: readonly ApprovalRow[]): Approval[] {
    return rows.map((row) => this.#seals.read(row));
  }
}

function identityOf({ serverId, serverFingerprint, toolName, toolDigest }: ToolIdentity) {
  return [serverId, serverFingerprint, toolName, toolDigest] as const;
}
