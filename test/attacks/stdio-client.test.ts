import { once } from 'node:events';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openHome, startProgram } from '../support/program.js';

/* A client of `codemode mcp` that sends a message without an end: it is read up to the longest message, and no further. */
const home = openHome({ server: { maxRequestSize: '64KB' } });
afterAll(() => home[Symbol.dispose]());

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const FIRST = {
  legacy: {
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '0' } },
  },
  modern: { method: 'server/discover', params: { _meta: META } },
};

test.each(['legacy', 'modern'] as const)('a message without an end ends the connection in the %s era', async (era) => {
  const host = startProgram(home, 'mcp');
  onTestFinished(() => void host.kill('SIGKILL'));
  const ended = once(host, 'exit');
  host.stderr?.resume();
  host.stdin?.on('error', () => {});
  host.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, ...FIRST[era] })}\n`);
  const [answer] = (await once(host.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  expect(JSON.parse(answer.toString().split('\n')[0] ?? '')).toMatchObject({ id: 1, result: expect.anything() });
  host.stdout?.resume();
  // Nobody says that it is over: the pipe stays open.
  host.stdin?.write('x'.repeat(1024 * 1024));
  expect((await ended)[1]).toBeNull();
});
