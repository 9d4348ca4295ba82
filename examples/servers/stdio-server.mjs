// The least that an MCP server over standard input and output needs: lines of JSON-RPC, no dependencies.
import { createInterface } from 'node:readline';

/**
 * Serves tools until the input ends. Gives the function that says that the tools have changed.
 *
 * @param {{ name: string, version: string, instructions: string, tools: Tool[], canChange?: boolean }} server
 *
 * @typedef {object} Tool
 * @property {string} name
 * @property {string} description
 * @property {object} inputSchema
 * @property {object} outputSchema
 * @property {object} [annotations] without them, it only reads
 * @property {(input: any) => unknown | Promise<unknown>} run gives the structured result; what it throws is the tool's error
 */
export function serve({ name, version, instructions, tools, canChange = false }) {
  const answer = (id, body) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`);
  const methods = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: canChange ? { listChanged: true } : {} },
      serverInfo: { name, version },
      instructions,
    }),
    ping: () => ({}),
    'tools/list': () => ({
      tools: tools.map(({ run, annotations = { readOnlyHint: true }, ...described }) => ({
        ...described,
        annotations,
      })),
    }),
    'tools/call': async ({ name: wanted, arguments: input = {} }) => {
      const tool = tools.find((each) => each.name === wanted);
      if (tool === undefined) throw Object.assign(new Error(`there is no tool ${wanted}`), { code: -32_602 });
      try {
        const structuredContent = await tool.run(input);
        return { content: [{ type: 'text', text: `the answer is in structuredContent` }], structuredContent };
      } catch (error) {
        return { content: [{ type: 'text', text: error.message }], isError: true };
      }
    },
  };
  createInterface({ input: process.stdin }).on('line', async (line) => {
    const { id, method, params = {} } = JSON.parse(line);
    if (id === undefined) return; // a notification
    if (!Object.hasOwn(methods, method)) return answer(id, { error: { code: -32_601, message: 'Method not found' } });
    try {
      answer(id, { result: await methods[method](params) });
    } catch ({ code = -32_603, message }) {
      answer(id, { error: { code, message } });
    }
  });
  return () => process.stdout.write('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n');
}

/** Numbers from 0 to 1 that look random and are the same every time. */
export function sequence(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
