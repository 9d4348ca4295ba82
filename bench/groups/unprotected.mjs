// @ts-check
// What an agent's client waits for, over MCP stdio with a stdio server behind: ours with jail, policy and audit record,
// and the same without any of it (`unprotected/vm-server.mjs`), by turns. The ratios are what we promise. The floor is the same
// processes as ours with nothing but pipes between them (`unprotected/floor-host.mjs`). CPU time is that of the program and all its
// processes together: it says more than the time where other work takes the machine. What a V8 process spends on the run that it
// ends with is missing from it.
import { fileURLToPath } from 'node:url';
import { ProcessorMeter } from '../machine.mjs';
import { mustBe } from '../product.mjs';
import { connect, openHome } from '../program.mjs';
import { scaled, summarize } from '../stats.mjs';

const CALLS = 100;
const SUM = (CALLS * (CALLS + 3)) / 2;
/** Of the 43,000 rows, 9.8 MB, that FILTER gets: the official client reads at most 10 MiB. */
const KEPT = 21_070;

const ONE_BY_ONE = `let sum = 0; for (let i = 0; i < ${CALLS}; i++) sum += (await add({ a: i, b: 2 })).sum; RETURN(sum)`;
const AT_ONCE = `const all = await Promise.all(Array.from({ length: ${CALLS} }, (_, i) => add({ a: i, b: 2 })));
RETURN(all.reduce((sum, each) => sum + each.sum, 0))`;
const FILTER = `const all = await rows({}); RETURN(all.rows.filter((row) => row.score > 50).length)`;
const LOOP = 'let n = 0; for (let i = 0; i < 5e6; i++) n = (n + i) % 1000; RETURN(n)';
const SORT = `const list = []; for (let i = 0, n = 1; i < 1e5; i++) list.push((n = (n * 48271) % 2147483647));
list.sort((a, b) => a - b); RETURN(list.length)`;

/** `goal`: at most so many times what the unprotected one takes. */
const WARM = [
  { name: 'a run without calls', body: 'RETURN(42)', expected: 42, count: 300, goal: 1.3, hasFloor: true },
  {
    ...{ name: `${CALLS} calls, one after the other`, body: ONE_BY_ONE, expected: SUM, count: 40, goal: 2.5 },
    ...{ calls: CALLS, hasFloor: true },
  },
  {
    ...{ name: `${CALLS} calls at once`, body: AT_ONCE, expected: SUM, count: 40, goal: 4 },
    ...{ calls: CALLS, hasFloor: true },
  },
  { name: '9.8 MB of rows, filtered', body: FILTER, expected: KEPT, count: 10, goal: 1.5 },
  { name: 'a loop of 5,000,000 steps', body: LOOP, expected: 0, count: 5, goal: 2 },
  { name: '100,000 numbers, made and sorted', body: SORT, expected: 1e5, count: 5, goal: 2 },
];
/** The first program with calls of a process. */
const COLD = [
  { name: `${CALLS} calls in a process that has just started`, body: ONE_BY_ONE, expected: SUM, goal: 4, calls: CALLS },
  { name: `${CALLS} calls at once in such a process`, body: AT_ONCE, expected: SUM, goal: 4, calls: CALLS },
];

const PLAIN = {
  command: process.execPath,
  args: [fileURLToPath(new URL('../unprotected/vm-server.mjs', import.meta.url))],
};
const FLOOR = {
  command: process.execPath,
  args: [fileURLToPath(new URL('../unprotected/floor-host.mjs', import.meta.url))],
};
const TOOLS = {
  command: process.execPath,
  args: [fileURLToPath(new URL('../unprotected/tools-server.mjs', import.meta.url))],
};

export async function measure({ quick }) {
  const home = openHome({ mcpServers: { bench: TOOLS } });
  const program = { command: process.execPath, args: home.args, env: home.env };
  try {
    const rows = [];
    const [ours, plain, floor] = [await connect(program), await connect(PLAIN), await connect(FLOOR)];
    try {
      for (const each of WARM) {
        const sides = { ours: () => run(ours, each), plain: () => runPlain(plain, each) };
        const spent = { ours: meterOf(ours), plain: meterOf(plain) };
        if (each.hasFloor) {
          Object.assign(sides, { floor: () => runPlain(floor, each) });
          Object.assign(spent, { floor: meterOf(floor) });
        }
        rows.push(...rowsOf(each, await byTurns(scaled(each.count, quick), sides, spent)));
      }
    } finally {
      await Promise.all([ours.close(), plain.close(), floor.close()]);
    }
    rows.push(...(await measureQuickJs(quick)));
    for (const each of COLD) {
      const spentMs = { ours: 0, plain: 0 };
      const cold = (side, start, runOne) => async () => {
        const { ms, cpuMs } = await runCold(start, runOne, each);
        spentMs[side] += cpuMs;
        return ms;
      };
      const sides = { ours: cold('ours', program, run), plain: cold('plain', PLAIN, runPlain) };
      const spent = { ours: () => spentMs.ours, plain: () => spentMs.plain };
      rows.push(...rowsOf(each, await byTurns(scaled(8, quick), sides, spent)));
    }
    return rows;
  } finally {
    home.close();
  }
}

/** What computes for long, and what does not, where no run is handed over to V8. */
async function measureQuickJs(quick) {
  const home = openHome({ mcpServers: { bench: TOOLS }, sandbox: { engine: 'quickjs' } });
  const program = { command: process.execPath, args: home.args, env: home.env };
  const [ours, plain] = [await connect(program), await connect(PLAIN)];
  try {
    const rows = [];
    for (const each of WARM.filter(({ body }) => body !== ONE_BY_ONE && body !== AT_ONCE)) {
      const sides = { ours: () => run(ours, each), plain: () => runPlain(plain, each) };
      const spent = { ours: meterOf(ours), plain: meterOf(plain) };
      const named = { ...each, name: `${each.name}, engine quickjs` };
      rows.push(...rowsOf(named, await byTurns(scaled(each.count, quick), sides, spent)));
    }
    return rows;
  } finally {
    await Promise.all([ours.close(), plain.close()]);
    home.close();
  }
}

/**
 * @template {string} Side
 * @param {number} count
 * @param {Record<Side, () => Promise<number>>} sides
 * @param {Record<Side, () => number>} spent CPU time so far, in ms
 * @returns {Promise<any>} the figures of each side
 */
async function byTurns(count, sides, spent) {
  const figures = Object.keys(sides).map((name) => ({ name, samples: /** @type {number[]} */ ([]), before: 0 }));
  for (let round = -Math.ceil(count / 4); round < count; round++) {
    if (round === 0) for (const each of figures) each.before = spent[each.name]();
    for (const { name, samples } of figures) {
      const ms = await sides[name]();
      // Looks at processes that end with the next run.
      spent[name]();
      if (round >= 0) samples.push(ms);
    }
  }
  const side = ({ name, samples, before }) => ({ ...summarize(samples), cpuMs: (spent[name]() - before) / count });
  return Object.fromEntries(figures.map((each) => [each.name, side(each)]));
}

function rowsOf({ name, goal, calls = 1 }, { ours, plain, floor }) {
  const times = ours.p50 / plain.p50;
  const cpuTimes = ours.cpuMs / plain.cpuMs;
  const each = calls === 1 ? 'for a run' : 'for a call';
  const cpu = ({ cpuMs }) => `${((cpuMs * 1_000) / calls).toFixed(0)} us of CPU time ${each}`;
  const floors = [];
  if (floor !== undefined) {
    const note = `${cpu(floor)}; takes ${(floor.p50 / plain.p50).toFixed(2)} times as long as without protection`;
    const ratio = floor.p50 / ours.p50;
    floors.push({
      name: '  floor: our processes, pipes only',
      unit: 'ms',
      p50: floor.p50,
      p95: floor.p95,
      ratio,
      note,
    });
  }
  return [
    { name, unit: 'ms', p50: ours.p50, p95: ours.p95, note: cpu(ours) },
    {
      name: '  the same without protection',
      unit: 'ms',
      p50: plain.p50,
      p95: plain.p95,
      ratio: plain.p50 / ours.p50,
      note: `${cpu(plain)}; ours takes ${times.toFixed(2)} times as long (${cpuTimes.toFixed(2)} in CPU time); wanted ${goal} (${times <= goal ? 'met' : 'NOT met'})`,
    },
    ...floors,
  ];
}

async function run(client, { body, expected }) {
  const names = ['add', 'rows'].filter((name) => body.includes(`${name}(`));
  const imports = names.length === 0 ? '' : `import { ${names.join(', ')} } from '@codemode/servers/bench';\n`;
  const code = imports + body.replace('RETURN', 'globalThis.__codemode_result__ = ');
  return time(client, 'codemode_run', code, expected);
}

async function runPlain(client, { body, expected }) {
  return time(client, 'run', body.replace('RETURN', 'return '), expected);
}

async function time(client, name, code, expected) {
  const start = performance.now();
  const answer = await client.callTool({ name, arguments: { code } });
  const ms = performance.now() - start;
  mustBe(answer.structuredContent?.result, expected);
  return ms;
}

/** The first program with calls of a process; that it starts, and connects its server, is not part of it. */
async function runCold(program, runOne, each) {
  const client = await connect(program);
  try {
    const first = { body: 'RETURN((await add({ a: 40, b: 2 })).sum)', expected: 42 };
    await runOne(client, first);
    const spentMs = meterOf(client);
    const before = spentMs();
    const ms = await runOne(client, each);
    return { ms, cpuMs: spentMs() - before };
  } finally {
    await client.close();
  }
}

/** CPU time of the program that a client has started, in ms. */
function meterOf({ transport }) {
  const meter = new ProcessorMeter(transport.pid);
  return () => meter.read();
}
