import { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { OWN_TOOL_NAMES } from '../../domain/own-tool-names.js';
import { VERSION } from '../../domain/version.js';
import { visibleSentence } from '../../lib/text/visible-text.js';

/** More than any client sends before it has read the tool. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
const LAST_WORDS_MS = 50;

/**
 * Speaks MCP without a host, until the client closes the pipe or `stop` is aborted: the one tool says why nothing runs and what a
 * person has to do. Clients show "failed to connect" for a server that exits, and no line of its stderr. Nothing of the
 * configuration is used, so that a file that is not trusted has no effect.
 */
export async function serveUnusable(reason: string, stop: AbortSignal): Promise<void> {
  const text = `codemode runs nothing here. Tell the user:\n${visibleSentence(reason)}\nThen reconnect codemode in the client.`;
  const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MAX_MESSAGE_BYTES });
  const handle = serveStdio(() => createServer(text), { transport, onerror: () => {} });
  await new Promise<void>((resolve) => {
    stop.addEventListener('abort', () => resolve(), { once: true });
    process.stdin.once('end', resolve);
    process.stdin.once('close', resolve);
    if (stop.aborted || process.stdin.readableEnded) resolve();
  });
  // The answers to what arrived before the end.
  await new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MS));
  await handle.close();
}

function createServer(text: string): Server {
  const server = new Server(
    { name: 'codemode', title: 'codemode', version: VERSION },
    { capabilities: { tools: {} }, instructions: text },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: [
      {
        name: OWN_TOOL_NAMES.codemode,
        description: text,
        inputSchema: { type: 'object' },
        _meta: { 'anthropic/alwaysLoad': true },
      },
    ],
  }));
  // The tool is that of "Code Mode for MCP", whose answers always have this structure.
  const diagnostics = [{ severity: 'error', code: 'UNUSABLE_CONFIG', message: text }];
  server.setRequestHandler('tools/call', () => ({
    content: [{ type: 'text', text }],
    structuredContent: { logs: [], result: null, diagnostics },
    isError: true,
  }));
  return server;
}
