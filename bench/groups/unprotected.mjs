// @ts-check
// What an agent's client waits for, over MCP stdio with a stdio server behind: ours with jail, policy and audit record,
// and the same without any of it (`unprotected/vm-server.mjs`), by turns. The ratios are what we promise.
import { fileURLToPath } from 'node:url';
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
  { name: 'a run without calls', body: 'RETURN(42)', expected: 42, count: 300, goal: 1.3 },
  { name: `${CALLS} calls, one after the other`, body: ONE_BY_ONE, expected: SUM, count: 40, goal: 2.5 },
  { name: `${CALLS} calls at once`, body: AT_ONCE, expected: SUM, count: 40, goal: 4 },
  { name: '9.8 MB of rows, filtered', body: FILTER, expected: KEPT, count: 10, goal: 1.5 },
  { name: 'a loop of 5,000,000 steps', body: LOOP, expected: 0, count: 5, goal: 2 },
  { name: '100,000 numbers, made and sorted', body: SORT, expected: 1e5, count: 5, goal: 2 },
];

const PLAIN = {
  command: process.execPath,
  args: [fileURLToPath(new URL('../unprotected/vm-server.mjs', import.meta.url))],
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
    const [ours, plain] = [await connect(program), await connect(PLAIN)];
    try {
      for (const each of WARM) {
        const sides = { ours: () => run(ours, each), plain: () => runPlain(plain, each) };
        rows.push(...rowsOf(each, await byTurns(scaled(each.count, quick), sides)));
      }
    } finally {
      await Promise.all([ours.close(), plain.close()]);
    }
    const cold = {
      name: `${CALLS} calls in a process that has just started`,
      body: ONE_BY_ONE,
      expected: SUM,
      goal: 4,
    };
    const sides = { ours: () => runCold(program, run, cold), plain: () => runCold(PLAIN, runPlain, cold) };
    rows.push(...rowsOf(cold, await byTurns(scaled(8, quick), sides)));
    return rows;
  } finally {
    home.close();
  }
}

/** @param {number} count @param {Record<'ours' | 'plain', () => Promise<number>>} sides */
async function byTurns(count, sides) {
  /** @type {Record<'ours' | 'plain', number[]>} */
  const samples = { ours: [], plain: [] };
  for (let round = -Math.ceil(count / 4); round < count; round++) {
    const ms = { ours: await sides.ours(), plain: await sides.plain() };
    if (round < 0) continue;
    samples.ours.push(ms.ours);
    samples.plain.push(ms.plain);
  }
  return { ours: summarize(samples.ours), plain: summarize(samples.plain) };
}

function rowsOf({ name, goal }, { ours, plain }) {
  const times = ours.p50 / plain.p50;
  return [
    { name, unit: 'ms', p50: ours.p50, p95: ours.p95 },
    {
      name: '  the same without protection',
      unit: 'ms',
      p50: plain.p50,
      p95: plain.p95,
      ratio: plain.p50 / ours.p50,
      note: `ours takes ${times.toFixed(2)} times as long; wanted ${goal} (${times <= goal ? 'met' : 'NOT met'})`,
    },
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
    return await runOne(client, each);
  } finally {
    await client.close();
  }
}
