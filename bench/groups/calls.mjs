// @ts-check
// Calls from a program to the host and back. The host's function answers at once, so what is timed is the way there
// and back and nothing an upstream does.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ECHO_SCHEMA, openBroker, openTrail } from '../broker.mjs';
import { floorOfBlockingCalls } from '../floor.mjs';
import { processorMs, processTree } from '../machine.mjs';
import { ECHO, finalValue, loadProduct, mustBe, openSandbox, programOf } from '../product.mjs';
import { collect, scaled, summarize, timeEach } from '../stats.mjs';

const CALLS = 1_000;
const IMPORT = `import { echo } from '@codemode/servers/bench';`;
const SUM = (CALLS * (CALLS - 1)) / 2;

const SEQUENTIAL = `${IMPORT} let sum = 0;
for (let i = 0; i < ${CALLS}; i++) { const [{ n }] = await echo({ n: i }); sum += n; }
globalThis.__codemode_result__ = sum;`;
const PARALLEL = `${IMPORT}
const all = await Promise.all(Array.from({ length: ${CALLS} }, (_, i) => echo({ n: i })));
globalThis.__codemode_result__ = all.reduce((sum, [{ n }]) => sum + n, 0);`;
const BLOCKING = `${IMPORT} let sum = 0;
for (let i = 0; i < ${CALLS}; i++) sum += echo({ n: i })[0].n;
globalThis.__codemode_result__ = sum;`;

/** The same work for us and for the peer, on `data`. */
const FILTER = `let n = 0; const byCountry = {};
for (const row of data.rows) if (row.active && row.score > 50) { n++; byCountry[row.country] = (byCountry[row.country] || 0) + row.cents; }
const top = data.rows.filter((row) => row.tags.includes('vip')).map((row) => row.email).slice(0, 5);`;
const RESULT_BYTES = 10 * 1024 * 1024;

export async function measure({ quick, missing }) {
  const sandbox = await openSandbox();
  try {
    return [
      await callRow(sandbox, quick, 'call round trip, one after the other', SEQUENTIAL, { goal: { p50: 120 } }),
      await callRow(sandbox, quick, 'call round trip, in Promise.all', PARALLEL, { goal: { p50: 30 } }),
      await callRow(sandbox, quick, 'blocking call round trip', BLOCKING, { goal: { p50: 150 }, isBlocking: true }),
      ...(await callToolRows(sandbox, quick)),
      ...(await filterRows(sandbox, quick, missing)),
    ];
  } finally {
    await sandbox.close();
  }
}

async function callRow(sandbox, quick, name, source, { goal, isBlocking = false }) {
  return rowOf(sandbox, quick, { name, goal, program: await programOf(source, { isBlocking }), handlers: ECHO });
}

async function rowOf(sandbox, quick, { name, goal, program, handlers }) {
  const perCall = () => timeOfCall(sandbox, program, handlers);
  await collect(scaled(20, quick), perCall);
  const count = scaled(30, quick);
  const spentBefore = processorMs(processTree(process.pid));
  const { p50, p95 } = await collect(count, perCall);
  const spent = ((processorMs(processTree(process.pid)) - spentBefore) * 1_000) / (count * CALLS);
  return { name, unit: 'us', p50, p95, goal, note: `${spent.toFixed(1)} us of CPU time each` };
}

/** A call's time is a share of its program's: the start of the program is less than one call of the thousand. */
async function timeOfCall(sandbox, program, handlers) {
  const start = performance.now();
  mustBe(await finalValue(sandbox, program, { handlers }), SUM);
  return ((performance.now() - start) * 1_000) / CALLS;
}

/**
 * The same through all that is between `call_tool` of a script and its server, with the record on disk and without it
 * by turns; and the floor beneath it: two processes that send each other as many bytes, one of them blocking.
 */
async function callToolRows(sandbox, quick) {
  const { DEFAULT_LIMITS } = await loadProduct();
  const source = `var sum = 0; for (var i = 0; i < ${CALLS}; i++) sum += call_tool('bench', 'echo', { n: i }).result.n; sum`;
  const program = {
    source,
    language: 'javascript',
    modules: [],
    limits: DEFAULT_LIMITS,
    blocking: true,
    script: { input: {}, calls: ['call_tool'] },
  };
  const folder = mkdtempSync(join(tmpdir(), 'codemode-bench-'));
  const audit = await openTrail(folder);
  try {
    const plain = { onCall: await callToolPath(source) };
    const recorded = { onCall: await callToolPath(source, audit) };
    /** @type {Record<'whole' | 'record', number[]>} */
    const samples = { whole: [], record: [] };
    for (let round = -scaled(10, quick); round < scaled(40, quick); round++) {
      const without = await timeOfCall(sandbox, program, plain);
      const whole = await timeOfCall(sandbox, program, recorded);
      if (round < 0) continue;
      samples.whole.push(whole);
      samples.record.push(whole - without);
    }
    const ours = { name: 'call_tool of a script with its record, round trip', unit: 'us', ...summarize(samples.whole) };
    const record = { name: 'of that, its record on disk', unit: 'us', ...summarize(samples.record) };
    const floor = await floorOfBlockingCalls(CALLS, scaled(30, quick));
    const peer = { name: 'floor: as many bytes between two bare processes', unit: 'us', ...floor };
    return [
      { ...ours, goal: { p50: 150 } },
      { ...record, goal: { p50: 50 } },
      { ...peer, ratio: floor.p50 / ours.p50 },
    ];
  } finally {
    await audit.close();
    audit.database.close();
    rmSync(folder, { recursive: true });
  }
}

async function callToolPath(source, audit) {
  const product = await loadProduct();
  const snapshot = product.snapshotOf([{ id: 'bench', tools: [{ name: 'echo', inputSchema: ECHO_SCHEMA }] }]);
  const broker = await openBroker(audit);
  const options = { snapshot, broker, maxToolCalls: Number.MAX_SAFE_INTEGER, present: product.envelopeOf };
  const run = product.openRunContext('bench', 'bench', 'bench', source);
  const calls = new product.ToolCalls({ ...options, run, client: {} });
  // Nothing is still starting here.
  const tools = { snapshot, fillIn: async () => false };
  const scriptCalls = new product.ScriptCalls(calls, { ...options, tools, startingNote: () => '', allowedServers: [] });
  const delegate = { isReplayed: false, remainingMs: () => Number.POSITIVE_INFINITY, onSending: () => {} };
  return (call, signal) => scriptCalls.answer(call, JSON.parse(call.argumentsJson), { ...delegate, signal }, run);
}

async function filterRows(sandbox, quick, missing) {
  const json = largeJson(RESULT_BYTES);
  const bytes = Buffer.from(json);
  const data = JSON.parse(json);
  const expected = new Function('data', `${FILTER} return [n, byCountry, top];`)(data);
  const program = await programOf(
    `import { large } from '@codemode/servers/bench'; const data = await large();
     ${FILTER} globalThis.__codemode_result__ = [n, byCountry, top];`,
    { calls: ['large'] },
  );
  const handlers = { onCall: async () => ({ ok: true, json: bytes }) };
  const run = async () => mustBe(await finalValue(sandbox, program, { handlers }), expected);
  await run();
  const ours = await timeEach(scaled(10, quick), run);
  const row = {
    name: '10 MB result filtered in the sandbox',
    unit: 'ms',
    p50: ours.p50,
    p95: ours.p95,
    goal: { p50: 350 },
  };
  return [row, await filterPeer(json, expected, ours, quick, missing)];
}

async function filterPeer(json, expected, ours, quick, missing) {
  const name = 'peer: the same in quickjs-emscripten, not jailed';
  const reason = missing['quickjs-emscripten'];
  if (reason !== undefined) return { name, note: `not installed: ${reason}` };
  const { open } = await import('../peers/quickjs-emscripten.mjs');
  const { filter } = await open();
  const run = async () => {
    mustBe(await filter?.(json, `const data = JSON.parse(bigJson()); ${FILTER} return [n, byCountry, top];`), expected);
  };
  await run();
  const { p50, p95 } = await timeEach(scaled(10, quick), run);
  return { name, unit: 'ms', p50, p95, ratio: p50 / ours.p50 };
}

/** Rows such as a tool gives, the same ones each time. */
function largeJson(bytes) {
  const countries = ['DE', 'FR', 'US', 'GB', 'JP', 'BR'];
  const rows = [];
  for (let id = 0, size = 0; size < bytes; id++) {
    const mixed = Math.imul(id + 1, 2_654_435_761) >>> 0;
    const row = JSON.stringify({
      id,
      email: `user${id}@example.com`,
      name: `User Number ${id}`,
      country: countries[mixed % 6],
      active: (mixed >>> 8) % 2 === 0,
      score: (mixed >>> 12) % 100,
      cents: mixed % 1_000_003,
      tags: (mixed >>> 20) % 10 === 0 ? ['vip', 'new'] : ['std'],
      note: 'lorem ipsum dolor sit amet '.repeat(3),
    });
    rows.push(row);
    size += row.length + 1;
  }
  return `{"rows":[${rows.join()}]}`;
}
