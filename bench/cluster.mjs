// @ts-check
// `npm run bench:cluster`: hosts that share a PostgreSQL, all on this machine: clients, hosts, workers and database share its cores.
// Figures are compared within one run; the absolute ones say little about machines of your own.
import { parseArgs } from 'node:util';
import { startDatabase } from './cluster/database.mjs';
import { openHosts } from './cluster/hosts.mjs';
import { describeMachine, ProcessorMeter } from './machine.mjs';
import { finish } from './report.mjs';
import { summarize, timeConcurrent } from './stats.mjs';
import { withVerdict } from './table.mjs';

const HELP = `npm run bench:cluster -- [options]

  --requests N   plain runs for each figure of latency and throughput (default 200)
  --suspended N  suspended runs that three hosts resume (default 1000; the promise is 10000)
  --history N    ended runs before queries are timed again (default 10000; the promise is 100000)
  --json FILE    the figures as JSON`;
const PLAIN = 'return 40 + 2';
const WIDTH = 16;
const POLL_MS = 2;

const { values } = parseArgs({
  options: Object.fromEntries(
    ['requests', 'suspended', 'history', 'json'].map((name) => [name, { type: /** @type {const} */ ('string') }]),
  ),
});
const numberOf = (name, usual) => Number(values[name] ?? usual);
const sizes = {
  requests: numberOf('requests', 200),
  suspended: numberOf('suspended', 1_000),
  history: numberOf('history', 10_000),
};
if (Object.values(sizes).some((size) => !Number.isInteger(size) || size < 1)) {
  console.error(HELP);
  process.exitCode = 2;
} else {
  await main();
}

async function main() {
  const machine = describeMachine();
  console.log(machine.text);
  if (machine.warning !== undefined) console.log(machine.warning);
  const database = await startDatabase();
  const shared = openHosts(database.url);
  const alone = openHosts(undefined);
  try {
    const first = await shared.start();
    const rows = [
      ...(await latency(await alone.start(), first)),
      ...(await throughput(shared, first, database)),
      ...(await resumption(shared, database)),
      ...(await history(shared, database)),
    ];
    finish(rows.map(withVerdict), { machine, quick: false, json: values.json });
  } finally {
    await Promise.all([shared.close(), alone.close()]);
    await database.close();
  }
}

/** One run after the other, by turns: what else happens on the machine happens to both. */
async function latency(alone, shared) {
  const samples = { alone: /** @type {number[]} */ ([]), shared: /** @type {number[]} */ ([]) };
  for (const host of [alone, shared]) for (let n = 0; n < 20; n++) await host.execute(PLAIN);
  for (let n = 0; n < sizes.requests; n++) {
    samples.alone.push(await timed(() => alone.execute(PLAIN)));
    samples.shared.push(await timed(() => shared.execute(PLAIN)));
  }
  const [sqlite, postgres] = [summarize(samples.alone), summarize(samples.shared)];
  return [
    { name: 'a plain run, SQLite', unit: 'ms', p50: sqlite.p50, p95: sqlite.p95 },
    { name: 'a plain run, Postgres', unit: 'ms', p50: postgres.p50, p95: postgres.p95 },
    { name: 'what Postgres adds, p50', unit: 'ms', value: postgres.p50 - sqlite.p50, goal: { atMost: 3 } },
  ];
}

/** How near the database is to its limit: what it spends on a run, of what one of its cores has. */
async function throughput(shared, first, database) {
  const hosts = [first];
  const meter = new ProcessorMeter(database.pid);
  const rows = [];
  let one = 0;
  for (const count of [1, 2, 3]) {
    while (hosts.length < count) hosts.push(await shared.start());
    for (const host of hosts) await host.execute(PLAIN);
    let turn = 0;
    const before = meter.read();
    const { perSecond } = await timeConcurrent(sizes.requests * 3, WIDTH * count, () =>
      /** @type {any} */ (hosts[turn++ % hosts.length]).execute(PLAIN),
    );
    if (count === 1) one = perSecond;
    const note = count === 1 ? '' : `${(perSecond / one).toFixed(2)} times one host; cores are shared`;
    rows.push({ name: `plain runs a second, ${count} hosts`, value: perSecond, valueUnit: '/s', note });
    const perRun = (meter.read() - before) / (sizes.requests * 3);
    const enough = `one core of it is enough for ${Math.round(1_000 / perRun)} such runs a second`;
    rows.push({ name: `  CPU time of the database for each`, value: perRun, valueUnit: 'ms', note: enough });
  }
  for (const host of hosts.slice(1)) await host.stop();
  await first.stop();
  return rows;
}

async function resumption(shared, database) {
  const [from, to] = [await shared.start(), await shared.start()];
  const few = [];
  for (let n = 0; n < Math.min(50, sizes.suspended); n++) few.push(await from.suspend(`one ${n}`));
  await from.stop();
  const samples = [];
  for (const { runId, approvalId } of few)
    samples.push(
      await timed(async () => {
        await to.approve(approvalId);
        await ended(to, runId);
      }),
    );
  const { p50, p95 } = summarize(samples);
  const hosts = [to, await shared.start(), await shared.start()];
  const many = /** @type {{ runId: string, approvalId: string }[]} */ ([]);
  const begun = performance.now();
  await timeConcurrent(sizes.suspended, WIDTH, async (lane) => {
    many.push(await /** @type {any} */ (hosts[lane % 3]).suspend(`many ${lane}`));
  });
  const suspendMs = performance.now() - begun;
  const bytes = Number(database.sql(`SELECT coalesce(avg(bytes), 0) FROM codemode.runs WHERE state = 'suspended'`));
  const decided = performance.now();
  let next = 0;
  await timeConcurrent(many.length, WIDTH, async (lane) => {
    const run = many[next++];
    if (run !== undefined) await /** @type {any} */ (hosts[lane % 3]).approve(run.approvalId);
  });
  const approveMs = performance.now() - decided;
  while (Number(database.sql(`SELECT count(*) FROM codemode.runs WHERE state = 'suspended'`)) > 0) await pause(50);
  const resumedMs = performance.now() - decided;
  const failed = Number(database.sql(`SELECT count(*) FROM codemode.runs WHERE state <> 'succeeded'`));
  for (const host of hosts) await host.stop();
  const perSecond = (ms) => (many.length / ms) * 1_000;
  return [
    { name: 'approval to the end of the run, another host', unit: 'ms', p50, p95, goal: { p50: 100 } },
    { name: `${many.length} runs suspended by three hosts`, value: perSecond(suspendMs), valueUnit: '/s' },
    { name: `${many.length} approvals`, value: perSecond(approveMs), valueUnit: '/s' },
    {
      name: `${many.length} runs approved and resumed by three hosts`,
      value: perSecond(resumedMs),
      valueUnit: '/s',
      note: failed === 0 ? 'all succeeded' : `${failed} did not succeed`,
      failed: failed > 0,
    },
    { name: 'a suspended run in the database', value: bytes / 1024, valueUnit: 'KiB' },
  ];
}

async function history(shared, database) {
  const host = await shared.start();
  for (let n = 0; n < 100; n++) await host.execute(PLAIN);
  const timeList = async () => {
    const samples = [];
    for (let n = 0; n < 50; n++) samples.push(await timed(() => host.list()));
    return summarize(samples);
  };
  const few = await timeList();
  const before = sizeOf(database);
  // Copies of a run that was made, as sealed as it is: what is timed reads the newest, and skips the others.
  database.sql(`INSERT INTO codemode.runs (id, caller, profile, setting, code_digest, state, created_at, updated_at, duration_ms,
      title, response, recording, modules)
    SELECT gen_random_uuid()::text, caller, profile, setting, code_digest, state, created_at - n, updated_at - n, duration_ms,
      title, response, recording, modules
    FROM (SELECT * FROM codemode.runs WHERE state = 'succeeded' ORDER BY created_at DESC LIMIT 1) AS one,
      generate_series(1, ${sizes.history}) AS n`);
  const perRun = (sizeOf(database) - before) / sizes.history;
  database.sql('ANALYZE codemode.runs');
  const many = await timeList();
  await host.stop();
  return [
    { name: 'the newest 100 runs, few are stored', unit: 'ms', p50: few.p50, p95: few.p95 },
    {
      name: `the newest 100 runs, ${sizes.history} are stored`,
      ...{ unit: 'ms', p50: many.p50, p95: many.p95 },
      note: `${(many.p50 / few.p50).toFixed(2)} times as long`,
    },
    { name: 'an ended run in the database, with indexes', value: perRun / 1024, valueUnit: 'KiB' },
  ];
}

function sizeOf(database) {
  return Number(database.sql(`SELECT pg_total_relation_size('codemode.runs')`));
}

async function ended(host, runId) {
  while ((await host.result(runId)).status !== 200) await pause(POLL_MS);
}

async function timed(act) {
  const start = performance.now();
  await act();
  return performance.now() - start;
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
