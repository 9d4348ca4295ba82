import { randomUUID } from 'node:crypto';
import type { Approval } from '../../src/domain/approval.js';
import { authenticate } from '../../src/lib/secrets/sealed.js';
import { type SessionRow, sessionBinding } from '../../src/store/console-rows.js';
import { masterKey } from '../../src/store/master-key.js';
import { SqliteApprovalStore } from '../../src/store/sqlite/approvals.js';
import { Database } from '../../src/store/sqlite/database.js';
import { SqliteRunStore } from '../../src/store/sqlite/runs/runs.js';
import type { Home } from './program.js';

const HOUR_MS = 3_600_000;
/** No host has these servers, so that none resumes the runs. */
const OTHER_SETTING = 'another';

/** Writes ended runs, and suspended ones that each wait for one approval, as a host would have: by the store's own code. */
export async function fillStore(home: Home, { runs, approvals }: { runs: number; approvals: number }): Promise<void> {
  const database = await Database.open(home.state);
  try {
    const key = await masterKey(home.state);
    const store = new SqliteRunStore(database, key);
    const nowMs = Date.now();
    const owner = {
      caller: 'subject token',
      profile: 'codemode',
      setting: OTHER_SETTING,
      codeDigest: 'd',
      createdAtMs: nowMs,
    };
    store.end(
      Array.from({ length: runs }, (_, index) => ({
        ...{
          id: randomUUID(),
          ...owner,
          createdAtMs: nowMs - HOUR_MS,
          state: index % 10 === 0 ? ('failed' as const) : ('succeeded' as const),
        },
        ...{ responseJson: '{}', recordingJson: undefined, title: `const run${index + 1} = 1;`, durationMs: index },
      })),
      nowMs - HOUR_MS,
    );
    const asked = new SqliteApprovalStore(database, key);
    const waiting = Array.from({ length: approvals }, () => randomUUID());
    for (const id of waiting) {
      const program = new Uint8Array(8);
      store.suspend({ id, ...owner, program, contextJson: '{}', title: 'const waiting = 1;' }, nowMs);
    }
    database.transaction(() => {
      for (const [index, runId] of waiting.entries()) asked.add(approvalOf(runId, index + 1, nowMs));
    });
  } finally {
    database.close();
  }
}

/** Ends the time of every console session, as if nobody had used it for 12 hours. */
export async function expireSessions(home: Home): Promise<void> {
  const database = await Database.open(home.state);
  try {
    const key = await masterKey(home.state);
    const put = database.prepare<never>('UPDATE console_sessions SET expires_at = ?, mark = ? WHERE id = ?');
    for (const row of database.prepare<SessionRow>('SELECT * FROM console_sessions').all()) {
      const late = { ...row, expires_at: Date.now() - 1 };
      put.run(late.expires_at, authenticate(key, sessionBinding(late)), row.id);
    }
  } finally {
    database.close();
  }
}

function approvalOf(runId: string, number: number, nowMs: number): Approval {
  return {
    ...{ id: randomUUID(), runId, call: 1, caller: 'subject token', state: 'PENDING' },
    tool: { serverId: 'tracker', serverFingerprint: 'f', toolName: 'update_ticket', toolDigest: 't' },
    ...{ arguments: { id: `T-${number}` }, argumentsDigest: number.toString(16).padStart(64, '0'), hiddenParts: 0 },
    ...{ code: 'update_ticket({ id })', reason: 'preset default', reasons: ['preset default'] },
    ...{ createdAtMs: nowMs - HOUR_MS + number, expiresAtMs: nowMs + 24 * HOUR_MS },
  };
}
