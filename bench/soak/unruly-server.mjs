// A stdio MCP server that does, tool by tool, what servers should not do.
import readline from 'node:readline';

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const many = (count, make) => Array.from({ length: count }, (_, index) => make(index));

const TOOLS = {
  fine: () => text('fine'),
  slow: async ({ ms = 50 }) => {
    await pause(ms);
    return text('late');
  },
  never: () => new Promise(() => {}),
  die: () => process.exit(3),
  half: () => {
    process.stdout.write('{"jsonrpc":"2.0","id":');
    setTimeout(() => process.exit(4), 5);
    return new Promise(() => {});
  },
  garbage: () => {
    process.stdout.write(`${many(200, () => 'DEBUG \u001b[31mno message\u001b[0m {"half":').join('\n')}\n[]\n{}\n`);
    return text('after garbage');
  },
  chatter: () => {
    for (let n = 0; n < 2_000; n++) write({ method: 'notifications/message', params: { level: 'info', data: `${n}` } });
    return text('after chatter');
  },
  storm: () => {
    for (let n = 0; n < 200; n++) write({ method: 'notifications/tools/list_changed' });
    return text('after storm');
  },
  stderr: () => {
    process.stderr.write('an error that nobody reads\n'.repeat(20_000));
    return text('after stderr');
  },
  huge: () => text('x'.repeat(2_000_000)),
  twice: (_, id) => {
    write({ id, result: text('first') });
    return text('second');
  },
};
const TOOL_LIST = Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: 'object' } }));
const METHODS = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: true }, logging: {} },
    serverInfo: { name: 'unruly', version: '0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: TOOL_LIST }),
  'tools/call': ({ name, arguments: given = {} }, id) => TOOLS[name](given, id),
};

readline.createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (Object.hasOwn(METHODS, method)) write({ id, result: await METHODS[method](params ?? {}, id) });
  else write({ id, error: { code: -32601, message: `no method ${method}` } });
});
