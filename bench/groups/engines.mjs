// @ts-check
// Many runs that compute for 10 to 80 ms in QuickJS: a hand-over to V8 costs a process, so `engine: auto` must not be slower than
// `engine: quickjs` where more work waits than there are cores. Both sides by turns, over MCP stdio. No CPU time: that of a jail that
// is killed is lost to its parent.
import { mustBe } from '../product.mjs';
import { connect, openHome } from '../program.mjs';
import { scaled, summarize, timeConcurrent } from '../stats.mjs';

/** Steps of the loop below that take QuickJS about a millisecond. */
const STEPS_PER_MS = 14_000;
const SIZES_MS = [10, 20, 40, 80];
const WIDTHS = [1, 2, 4, 20];
const ROUNDS = 3;
/** Of the goal: what two batches of the same side differ by on a machine with other work. */
const NOISE = 1.15;

export async function measure({ quick }) {
  const homes = {
    auto: openHome({ sandbox: { engine: 'auto' } }),
    quickjs: openHome({ sandbox: { engine: 'quickjs' } }),
  };
  const open = ({ args, env }) => connect({ command: process.execPath, args, env });
  const clients = { auto: await open(homes.auto), quickjs: await open(homes.quickjs) };
  try {
    const rows = [];
    for (const width of WIDTHS) {
      const count = scaled(Math.max(24, 2 * width), quick);
      const sides = { auto: empty(), quickjs: empty() };
      for (const client of Object.values(clients)) await batch(client, Math.ceil(count / 2), width);
      for (let round = 0; round < scaled(ROUNDS, quick); round++)
        for (const name of /** @type {const} */ (['auto', 'quickjs']))
          add(sides[name], await batch(clients[name], count, width));
      rows.push(...rowsOf(width, sides));
    }
    return rows;
  } finally {
    await Promise.all([clients.auto.close(), clients.quickjs.close()]);
    for (const home of Object.values(homes)) home.close();
  }
}

function empty() {
  return { rates: /** @type {number[]} */ ([]), p95s: /** @type {number[]} */ ([]) };
}

function add(side, { perSecond, p95 }) {
  side.rates.push(perSecond);
  side.p95s.push(p95);
}

function batch(client, count, width) {
  let next = 0;
  return timeConcurrent(count, width, () => run(client, SIZES_MS[next++ % SIZES_MS.length]));
}

async function run(client, ms) {
  const code = `let n = 0; for (let i = 0; i < ${ms * STEPS_PER_MS}; i++) n = (n + i) % 1000; globalThis.__codemode_result__ = n >= 0`;
  const answer = await client.callTool({ name: 'codemode_run', arguments: { code } });
  mustBe(answer.structuredContent?.result, true);
}

function rowsOf(width, { auto, quickjs }) {
  const [rate, other] = [summarize(auto.rates).p50, summarize(quickjs.rates).p50];
  const [p95, otherP95] = [summarize(auto.p95s).p50, summarize(quickjs.p95s).p50];
  const isMet = rate * NOISE >= other && p95 <= otherP95 * NOISE;
  const name = `runs of ${SIZES_MS[0]} to ${SIZES_MS.at(-1)} ms, ${width} at once`;
  return [
    { name: `${name}: auto`, unit: 'runs/s', value: rate, note: `p95 ${p95.toFixed(0)} ms` },
    {
      ...{ name: '  the same with engine quickjs', unit: 'runs/s', value: other, ratio: other / rate },
      note: `p95 ${otherP95.toFixed(0)} ms; auto has ${(rate / other).toFixed(2)} times its rate and ${(p95 / otherP95).toFixed(2)} times its p95; wanted not worse by more than noise (${isMet ? 'met' : 'NOT met'})`,
    },
  ];
}
