// @ts-check
// The whole path as an agent has it: the official client, `codemode mcp` as a process, a program in the jail, an upstream
// server as another process; and the same tool called by the same client without us.
import { mustBe } from '../product.mjs';
import { connect, EVERYDAY, openHome } from '../program.mjs';
import { scaled, timeEach } from '../stats.mjs';

const WITHOUT_CALLS = 'globalThis.__codemode_result__ = 40 + 2;';
const WITH_ONE_CALL = `import { add } from '@codemode/servers/everyday';
globalThis.__codemode_result__ = (await add({ a: 40, b: 2 })).sum;`;

export async function measure({ quick }) {
  const home = openHome({ mcpServers: { everyday: EVERYDAY } });
  const ours = await connect({ command: process.execPath, args: home.args, env: home.env });
  const upstream = await connect(EVERYDAY);
  const run = async (code) => {
    const answer = await ours.callTool({ name: 'codemode_run', arguments: { code } });
    mustBe(fieldOf(answer, 'result'), 42);
  };
  const direct = async () => {
    const answer = await upstream.callTool({ name: 'add', arguments: { a: 40, b: 2 } });
    mustBe(fieldOf(answer, 'sum'), 42);
  };
  try {
    // Connects the server behind; the loops settle what is compiled on both sides.
    for (let done = 0; done < scaled(200, quick); done++) {
      await run(WITH_ONE_CALL);
      await direct();
    }
    const count = scaled(500, quick);
    const fresh = await timeEach(count, () => run(WITHOUT_CALLS));
    const called = await timeEach(count, () => run(WITH_ONE_CALL));
    const alone = await timeEach(count, direct);
    const unit = 'ms';
    return [
      { name: 'fresh run over MCP stdio, no calls', unit, p50: fresh.p50, p95: fresh.p95, goal: { p50: 2 } },
      { name: 'program with one tool call over MCP stdio', unit, p50: called.p50, p95: called.p95 },
      {
        name: 'the same tool called directly over MCP stdio',
        unit,
        p50: alone.p50,
        p95: alone.p95,
        ratio: alone.p50 / called.p50,
        note: `a program with one call takes ${(called.p50 - alone.p50).toFixed(2)} ms longer`,
      },
    ];
  } finally {
    await Promise.all([ours.close(), upstream.close()]);
    home.close();
  }
}

/** @param {any} answer @param {string} name */
function fieldOf(answer, name) {
  return answer.structuredContent?.[name];
}
