import { once } from 'node:events';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openHome, startProgram } from '../support/program.js';

/* A client of `codemode mcp` whose messages have no end, or too much in them: they are read up to the limit, and no further. */
const home = openHome({ server: { maxRequestSize: '64KB' } });
const wideHome = openHome({});
afterAll(() => {
  home[Symbol.dispose]();
  wideHome[Symbol.dispose]();
});

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

/** How the host ends whose client sends this after its first message, and keeps the pipe open. */
async function endAfter(from: typeof home, era: keyof typeof FIRST, message: string) {
  const host = startProgram(from, 'mcp');
  onTestFinished(() => void host.kill('SIGKILL'));
  const ended = once(host, 'exit');
  let said = '';
  host.stderr?.on('data', (chunk) => {
    said += String(chunk);
  });
  host.stdin?.on('error', () => {});
  host.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, ...FIRST[era] })}\n`);
  const [answer] = (await once(host.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  expect(JSON.parse(answer.toString().split('\n')[0] ?? '')).toMatchObject({ id: 1, result: expect.anything() });
  host.stdout?.resume();
  host.stdin?.write(message);
  const [, signal] = (await ended) as [number | null, string | null];
  return { signal, said };
}

test.each(['legacy', 'modern'] as const)('a message without an end ends the connection in the %s era', async (era) => {
  expect((await endAfter(home, era, 'x'.repeat(1024 * 1024))).signal).toBeNull();
});

test.each([
  ['keys', `{${Array.from({ length: 210_000 }, (_, index) => `"k${index}":1`).join()}}`, '200000 different keys'],
  ['values', `[${'{},'.repeat(1_000_000)}{}]`, '2000000 values'],
])('a message with too many %s ends the connection', async (_, message, excess) => {
  const { signal, said } = await endAfter(wideHome, 'modern', `${message}\n`);
  expect(signal).toBeNull();
  expect(said).toContain(`a message has more than ${excess}`);
});
