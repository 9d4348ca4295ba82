import { cpSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AuditRecord } from '../../../src/domain/audit.js';
import { AuditLog } from '../../../src/host/admin/audit-log.js';
import { masterKey } from '../../../src/store/master-key.js';
import { SqliteAuditStore } from '../../../src/store/sqlite/audit/audit.js';
import { Database } from '../../../src/store/sqlite/database.js';
import { PROGRAM } from '../../support/cli.js';
import { collected } from '../../support/collected.js';
import { endOrphanedJails, type KillPoint, killingAt, listing, pointsIn, spread } from '../../support/kill-points.js';
import { LedgerHome } from '../../support/ledger.js';
import { needs } from '../../support/needs.js';
import { fixture } from '../../support/upstreams.js';

/*
 * The host is killed before each system call of its own that changes something: a write to a file, to a worker or to a
 * server, a rename, a sync. Then somebody else continues. Counted are the calls of the main thread, on which all is written
 * that matters here. CODEMODE_KILL_POINTS=all tries every one of them, which takes a quarter of an hour, and
 * CODEMODE_KILL_SEED chooses those of an earlier run.
 */
const TRIES_ALL = process.env.CODEMODE_KILL_POINTS === 'all';
const SEED = Number(process.env.CODEMODE_KILL_SEED ?? Math.floor(Math.random() * 1_000_000));
const LANES = 2;

const SOURCE = `import { look, write } from '@codemode/servers/ledger';
const outcomes = [(await look({ text: 'first' })).lines];
for (const text of ['one', 'two'])
  outcomes.push(await write({ text }).then(({ lines }) => lines, ({ message }) => message));
globalThis.__codemode_result__ = outcomes;`;

/** The ledger is in the folder where the program is started, so a copy of the folder is the same setup. */
class Copy extends LedgerHome {
  constructor(of?: Copy) {
    super({
      mcpServers: { ledger: { command: process.execPath, args: [fixture('ledger-server.mjs'), 'ledger.txt'] } },
    });
    if (of !== undefined) cpSync(of.folder, this.folder, { recursive: true });
  }

  /** The only run, as it is stored. */
  async stored(): Promise<{ readonly run?: string; readonly pending?: string }> {
    const database = await Database.open(this.path('state'));
    try {
      return {
        ...database.prepare<{ run: string }>('SELECT id AS run FROM runs').get(),
        ...database.prepare<{ pending: string }>("SELECT id AS pending FROM approvals WHERE state = 'PENDING'").get(),
      };
    } finally {
      database.close();
    }
  }

  /** What is on record of calls that may have been sent. */
  async audited(): Promise<AuditRecord[]> {
    const database = await Database.open(this.path('state'));
    await using log = await AuditLog.open({
      store: SqliteAuditStore.open(database, await masterKey(this.path('state')), this.path('state')),
      close: async () => database.close(),
    });
    expect(await log.verify()).toMatchObject({ isIntact: true });
    return (await collected(log.each({}))).filter(({ verdict }) => !['pending', 'sent'].includes(verdict));
  }
}

interface Phase {
  /** So many of its points are tried where not all are. */
  readonly points: number;
  readonly words: (home: Copy) => Promise<readonly string[]>;
  readonly input?: string;
}
const PHASES = {
  /** Starts, calls a tool that reads, asks about one that writes, and is suspended. */
  start: { points: 4, words: async () => ['run', '-'], input: SOURCE },
  approve: {
    points: 2,
    words: async (home) => ['approvals', 'approve', (await home.stored()).pending ?? '', '--scope', 'run'],
  },
  /** Is resumed, calls twice, ends. */
  resume: { points: 7, words: async (home) => ['runs', 'resume', (await home.stored()).run ?? ''] },
} satisfies Record<string, Phase>;

async function act(home: Copy, { words, input = '' }: Phase, through: readonly string[] = []): Promise<void> {
  const env = { CODEMODE_APPROVER_SECRET: await home.secret() };
  await home.run(['--config', home.config, ...(await words(home))], { through, input, env });
}

/** The outcome of the run after another process resumed it; nothing if it was never suspended. */
async function goOn(home: Copy): Promise<readonly unknown[] | undefined> {
  const { run, pending } = await home.stored();
  if (run === undefined) return undefined;
  if (pending !== undefined) await act(home, PHASES.approve);
  const { state, response } = await home.resume(run);
  expect(state).toBe('succeeded');
  return response?.result as readonly unknown[];
}

/** Everything that must be true wherever the host was killed. */
async function check(home: Copy): Promise<string> {
  const outcomes = await goOn(home);
  const { lines } = home;
  const writes = lines.filter((line) => line.startsWith('write'));
  // No call took effect twice, and none that nobody had approved.
  expect(lines).toEqual([...new Set(lines)]);
  if (outcomes === undefined) expect(writes).toEqual([]);
  const records = await home.audited();
  // Whatever reached the server is on record, and whatever a program was told is on record as it was told.
  const [known, unknown] = [recorded(records, 'ok'), recorded(records, 'outcome_unknown')];
  expect(known.length + unknown.length).toBeGreaterThanOrEqual(lines.length);
  expect(known.length).toBeLessThanOrEqual(lines.length);
  expect(unknown.length).toBeLessThanOrEqual(1);
  if (outcomes === undefined) return 'lost with its client';
  const answered = outcomes.filter((each) => typeof each === 'number');
  expect(known.length).toBeGreaterThanOrEqual(answered.length);
  expect(outcomes).toHaveLength(3);
  expect(outcomes.length - answered.length).toBeLessThanOrEqual(1);
  for (const [at, outcome] of outcomes.entries()) {
    if (typeof outcome === 'number') expect(lines[outcome - 1]).toBe(['look first', 'write one', 'write two'][at]);
    else expect(outcome).toContain('may have taken effect');
  }
  return answered.length === 3 ? 'done' : 'done, one unknown';
}

function recorded(records: readonly AuditRecord[], verdict: AuditRecord['verdict']): AuditRecord[] {
  return records.filter((record) => record.verdict === verdict);
}

type PhaseName = keyof typeof PHASES;

/** Of each phase how things are before it, and its points, from a life that nobody disturbs. */
const undisturbed = new Map<PhaseName, { readonly before: Copy; readonly points: readonly KillPoint[] }>();
const copies: Copy[] = [];

const NEEDED = needs('strace', 'bubblewrap');

beforeAll(async () => {
  if (NEEDED.skip === true) return;
  let before = new Copy();
  copies.push(before);
  for (const phase of Object.keys(PHASES) as PhaseName[]) {
    const after = new Copy(before);
    copies.push(after);
    await act(after, PHASES[phase], listing(after.path('calls.strace')));
    undisturbed.set(phase, { before, points: pointsIn(after.path('calls.strace')) });
    before = after;
  }
});

afterAll(() => {
  for (const each of copies) each[Symbol.dispose]();
  endOrphanedJails(join(dirname(PROGRAM), 'worker'));
});

test.each(Object.keys(PHASES) as PhaseName[])(
  'a host killed anywhere in "%s" repeats no call, loses none, and the run continues [B18]',
  { ...NEEDED, timeout: TRIES_ALL ? 3_600_000 : 120_000 },
  async (phase) => {
    const { before, points } = undisturbed.get(phase) as NonNullable<ReturnType<typeof undisturbed.get>>;
    const chosen = spread(points, TRIES_ALL ? points.length : PHASES[phase].points, SEED);
    const queue = [...chosen];
    const tried: string[] = [];
    const lane = async () => {
      for (let point = queue.shift(); point !== undefined; point = queue.shift())
        tried.push(await tryOut(before, phase, point));
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    console.log(`${phase}: ${chosen.length} of ${points.length} points, seed ${SEED}: ${summary(tried)}`);
  },
);

async function tryOut(before: Copy, phase: PhaseName, point: KillPoint): Promise<string> {
  using home = new Copy(before);
  await act(home, PHASES[phase], killingAt(point));
  try {
    return await check(home);
  } catch (error) {
    throw new Error(`killed in ${phase} at ${point.systemCall} ${point.count} (seed ${SEED})`, { cause: error });
  }
}

function summary(tried: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const each of tried) counts.set(each, (counts.get(each) ?? 0) + 1);
  return [...counts].map(([what, count]) => `${count} ${what}`).join(', ');
}
