import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { everyday, type Home, openHome, openStdio, ready, run, until } from '../../support/program.js';

const mcpServers = { everyday: everyday() };

/** When the tools on disk were listed. */
function savedAtMs({ state }: Home): number {
  const [file = ''] = readdirSync(join(state, 'catalog'));
  return JSON.parse(readFileSync(join(state, 'catalog', file), 'utf8')).listing.savedAtMs;
}

test('server.answerWithin says when a client is told that its program is still running', async () => {
  using home = openHome({ mcpServers, server: { answerWithin: '1s' } });
  await using program = await openStdio(home);
  await ready(program.client, 'everyday');
  const code = `import { slow } from '@codemode/servers/everyday'; await slow({ ms: 120_000 });`;
  const { diagnostics } = await run(program.client, code, { limits: { timeoutMs: 300_000 } });
  expect(diagnostics).toMatchObject([{ code: 'STILL_RUNNING' }]);
});

test('catalog.ttl says when a server is asked again for its tools', async () => {
  using home = openHome({ mcpServers, catalog: { ttl: '1s' } });
  await using program = await openStdio(home);
  await ready(program.client, 'everyday');
  const first = savedAtMs(home);
  await until(async () => {
    await run(program.client, '0');
    return savedAtMs(home) > first + 1_000;
  });
});

test('prompt.tokenBudget decides whether the agent reads types or an index', async () => {
  const three = { everyday: everyday(), second: everyday(), third: everyday() };
  using home = openHome({ mcpServers: three, prompt: { tokenBudget: 500 } });
  {
    await using first = await openStdio(home);
    await ready(first.client, ...Object.keys(three));
  }
  await using program = await openStdio(home);
  expect(program.client.getInstructions()).toContain('everyday');
  expect(program.client.getInstructions()).not.toContain('export function echo(');
  // The types come with the first answer that has to do with the server.
  const code = `import { echo } from '@codemode/servers/everyday'; globalThis.__codemode_result__ = await echo({ message: 'a' });`;
  const { types } = await run(program.client, code);
  expect(types).toMatchObject([{ code: 'SERVER_TYPES', message: expect.stringContaining('function echo(') }]);
});

test('logging decides what is written about a start, how and where', async () => {
  const folder = openHome({});
  const path = join(folder.work, 'logs', 'codemode.log');
  using home = openHome({
    mcpServers,
    logging: { format: 'json', outputs: [{ type: 'file', path, rotation: 'daily' }] },
  });
  {
    await using program = await openStdio(home);
    await ready(program.client, 'everyday');
    expect(program.stderr()).toBe('');
  }
  const entries = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(entries).toMatchObject([
    { level: 'info', message: expect.stringMatching(/^isolation /) },
    { level: 'info', message: 'servers: everyday' },
  ]);

  using quiet = openHome({ mcpServers, logging: { level: 'warn' } });
  await using program = await openStdio(quiet);
  await ready(program.client, 'everyday');
  expect(program.stderr()).toBe('');
  folder[Symbol.dispose]();
});
