// What a code mode costs with no protection at all: programs run by node:vm in the process that holds the connections. No
// jail, no policy, no record. It is the base of the ratios in this group and nothing to use.
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { serveTools } from '../../test/fixtures/stdio-tools.mjs';

const upstream = new Client({ name: 'unprotected', version: '0' });
const args = [fileURLToPath(new URL('tools-server.mjs', import.meta.url))];
const connected = upstream.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));

const call = async (name, input) => {
  await connected;
  return (await upstream.callTool({ name, arguments: input })).structuredContent;
};

serveTools('unprotected', {
  list: () => [{ name: 'run', inputSchema: { type: 'object', properties: { code: { type: 'string' } } } }],
  call: async (_, { code }) => {
    const tools = { add: (input) => call('add', input), rows: () => call('rows', {}) };
    const result = await vm.runInNewContext(`(async () => {${code}})()`, tools);
    return { content: [], structuredContent: { result } };
  },
});
