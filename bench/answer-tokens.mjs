// @ts-check
// What a model reads of an answer, in tokens (o200k): programs over MCP stdio, with the settings as they are shipped.
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { connect, EVERYDAY, openHome } from './program.mjs';

const ECHO = "import { echo } from '@codemode/servers/everyday';";
const ROWS = `Array.from({ length: 3000 }, (_, id) => ({ id, name: 'customer ' + id, total: id * 17 % 1000, city: 'Berlin' }))`;

/** Each with the most that it may cost. */
const PROGRAMS = [
  {
    name: 'a program with one call',
    atMost: 150,
    code: `${ECHO} globalThis.__codemode_result__ = await echo({ message: 'hello' });`,
  },
  {
    name: '900 successful calls',
    atMost: 300,
    code: `${ECHO} for (let at = 0; at < 900; at++) await echo({ message: 'm' + at }); globalThis.__codemode_result__ = 'done';`,
  },
  { name: '3,000 rows logged at once', atMost: 6_000, code: `console.log(${ROWS});` },
  { name: '3,000 rows as the result', atMost: 6_000, code: `globalThis.__codemode_result__ = ${ROWS};` },
  {
    name: '20,000 short log lines',
    atMost: 6_000,
    code: "for (let at = 0; at < 20000; at++) console.log('line ' + at);",
  },
];

export async function answerRows() {
  const home = openHome({ mcpServers: { everyday: EVERYDAY } });
  const client = await connect({ command: process.execPath, args: home.args, env: home.env });
  try {
    await client.listTools();
    const rows = [];
    for (const { name, atMost, code } of PROGRAMS) {
      const { content } = await client.callTool({ name: 'codemode_run', arguments: { code } });
      const text = /** @type {{ text: string }[]} */ (content).map((block) => block.text).join('\n');
      rows.push({
        name: `tokens of an answer: ${name}`,
        value: countTokens(text),
        valueUnit: 'tokens',
        goal: { atMost },
      });
    }
    return rows;
  } finally {
    await client.close();
    home.close();
  }
}
