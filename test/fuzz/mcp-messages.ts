import { HostError } from '../../src/domain/errors.js';
import { parseMessages } from '../../src/upstream/mcp/calls/messages.js';
import { normaliseTool } from '../../src/upstream/mcp/listing.js';
import { createRegistry, definition, fixture, stdio } from '../support/upstreams.js';
import { expectKnown, type Fuzzer, pure } from './fuzzer.js';
import type { Random } from './random.js';

/** One line from a server, and one tool of a listing, read without a connection: many a second. */
export const mcpMessages = pure((random, note) => {
  const line = lineOf(random, 1);
  const tool = random.changed(TOOL);
  note({ line, tool });
  let messages: readonly object[] = [];
  try {
    messages = parseMessages(line);
  } catch (error) {
    // What is not a message is an error with words; what breaks the reader is one of these.
    if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) throw error;
  }
  for (const message of messages)
    if ((message as { jsonrpc?: unknown }).jsonrpc !== '2.0')
      throw new Error('something else than a message was believed');
  const read = normaliseTool(tool, 'fuzz');
  if (read.tool !== undefined && (typeof read.tool.name !== 'string' || read.tool.name.length > 512))
    throw new Error('a tool without a usable name was believed');
  // The joiner inside an emoji stays; anywhere else it is written as an escape.
  for (const warning of read.warnings)
    if (/(?!\u200d)[\p{Cc}\p{Cf}]/u.test(warning)) throw new Error(`not one line: ${warning}`);
});

/** A real stdio server of each era that answers calls and listings with generated messages. */
export async function openMcpServers(): Promise<Fuzzer> {
  const registry = createRegistry();
  const faults: unknown[] = [];
  const noteFault = (fault: unknown) => faults.push(fault);
  process.on('unhandledRejection', noteFault);
  const adapters = ['legacy', 'modern'].map((era) =>
    registry.register(
      definition(era, stdio(fixture('fuzz-server.mjs'), era === 'modern' ? ['modern'] : []), {
        ...{ connectTimeoutMs: 20_000, callTimeoutMs: 2_000 },
      }),
    ),
  );
  return {
    attempt: async (random, note) => {
      const adapter = random.pick(adapters);
      const isListing = random.chance(3);
      const listing = {
        tools: [TOOL, TOOL].map((tool) => random.changed(tool)),
        ...(random.chance(4) ? { nextCursor: random.json(1) } : {}),
      };
      const lines = random.list(3, () => lineOf(random, '{{id}}')).join('\n');
      // At last an answer, so that the call need not wait for its time to be over.
      const said = Buffer.from(`${lines}\n{"jsonrpc":"2.0","id":{{id}},"result":{"content":[]}}`);
      note({ era: adapter.id, ...(isListing ? { listing } : { lines }) });
      const bytes = (
        isListing ? Buffer.from(JSON.stringify(listing)) : random.chance(3) ? random.mutated(said) : said
      ).toString('base64');
      const outcome = await adapter.call({ tool: isListing ? 'list' : 'say', arguments: { bytes } });
      if (outcome.status !== 'failed' && outcome.reply === undefined) throw new Error('an answer without a reply');
      if (isListing)
        await adapter.listTools(AbortSignal.timeout(5_000)).catch((error: unknown) => expectKnown(error, HostError));
      if (faults.length > 0) throw faults[0];
    },
    [Symbol.asyncDispose]: async () => {
      process.off('unhandledRejection', noteFault);
      await registry.close();
    },
  };
}

const TOOL = {
  ...{ name: 'read_file', title: 'Read', description: 'Reads a file.', deprecated: false },
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  outputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  annotations: { title: 'Reads', readOnlyHint: true, destructiveHint: false },
  icons: [{ src: 'https://x.example/icon.png' }],
  execution: { taskSupport: 'optional' },
};
const BODIES: readonly object[] = [
  { result: { content: [{ type: 'text', text: 'hi' }], structuredContent: { n: 1e21 }, isError: false } },
  { result: { resultType: 'complete', content: [], _meta: { a: 1 } } },
  { result: { resultType: 'input_required', inputRequests: { a: { method: 'elicitation/create', params: {} } } } },
  { result: { task: { taskId: 'x', status: 'working', pollInterval: 5 } } },
  { error: { code: -32000, message: 'no', data: { a: 1 } } },
  { error: 'no' },
  { method: 'notifications/progress', params: { progressToken: 1, progress: 1, total: 2, message: 'half' } },
  { method: 'notifications/tools/list_changed' },
  { method: 'notifications/cancelled', params: { requestId: 1 } },
  { method: 'elicitation/create', params: { message: 'who?', requestedSchema: { type: 'object', properties: {} } } },
  { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
  { method: 'ping' },
];

function lineOf(random: Random, id: number | string): string {
  const own = random.pick(BODIES);
  const body = random.chance(4) ? own : (random.changed(own) as object);
  const message = { jsonrpc: '2.0', ...('method' in own && random.chance(2) ? {} : { id: '@id' }), ...body };
  const text = JSON.stringify(random.chance(8) ? [message, random.json(2)] : message) ?? '';
  const line = text
    .replaceAll('"@id"', random.chance(5) ? JSON.stringify(random.json(0)) : String(id))
    .replaceAll('\n', ' ');
  return random.chance(5) ? random.mutated(Buffer.from(line)).toString('utf8').replaceAll('\n', ' ') : line;
}
