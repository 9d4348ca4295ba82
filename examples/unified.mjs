// The contract `unified` inside a program of your own: code as the body of a function, capabilities, somebody's own
// bounds, a worker for one caller, tools of any protocol in one form.
//   node unified.mjs
import { createHost, defineTool, MCPProtocolAdapter } from 'codemode';
import { z } from 'zod';

const inboxes = ['Support', 'Sales'];
const host = await createHost({
  config: {},
  tools: {
    helpscout: {
      searchInboxes: defineTool({
        description: 'Search for inboxes by query string.',
        input: z.object({ query: z.string(), limit: z.number().default(50) }),
        annotations: { readOnlyHint: true },
        execute: ({ query, limit }) => inboxes.filter((name) => name.toLowerCase().includes(query)).slice(0, limit),
      }),
    },
  },
});

// Nothing is granted that is not named.
const code = `console.log('for', context.userId); return await mcp.helpscout.searchInboxes('s', 1);`;
const granted = await host.execute(code, { capabilities: ['mcp:helpscout'], context: { userId: 'user123' } });
const refused = await host.execute(code, { context: { userId: 'user123' } });
console.log(JSON.stringify([granted.result, granted.logs, granted.metrics.apiCalls, refused.error.code]));

// For somebody, within what they may.
const auth = {
  userId: 'ann',
  sessionId: 'one',
  scopes: ['execute'],
  capabilities: { mcp: { allowedServers: ['helpscout'] } },
  expiresAt: new Date(Date.now() + 60_000),
};
const outside = await host.execute('return 1', { auth, capabilities: ['network:api.example.com'] });
console.log(JSON.stringify([host.validateCapabilities(auth, ['mcp:helpscout']), outside.error.code]));

// A place of its own.
const worker = await host.createWorker();
const { result } = await worker.execute('return 6 * 7;');
await host.destroyWorker(worker);

// Tools of whatever protocol in one form.
const adapter = new MCPProtocolAdapter(host);
const [tool] = await adapter.discoverTools();
console.log(JSON.stringify([result, tool.id, adapter.validateTool(tool), await tool.execute({ query: 'sale' })]));
console.log(JSON.stringify(host.getMetrics().executions));
await host.close();
