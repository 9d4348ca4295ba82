import type { Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { deferred } from '../../../src/lib/async/deferred.js';
import {
  type ClientOptions,
  type Era,
  everyday,
  openHome,
  openStdio,
  ready,
  run,
  startServe,
} from '../../support/program.js';

const config = { mcpServers: { everyday: everyday() }, defaults: { codeMode: { excludedTools: ['grown_direct'] } } };
const NAMES = `(await listTools('everyday', { detail: 'name' })).map(({ toolName }) => toolName).filter((name) => name.startsWith('grown'))`;

/** A client that says when it was told of a change after which a tool is listed. */
function listening() {
  const waiting = deferred<void>();
  let client: Client | undefined;
  const onChanged = async () => {
    const { tools = [] } = (await client?.listTools()) ?? {};
    if (tools.some(({ name }) => name === 'grown_direct')) waiting.resolve();
  };
  const options: ClientOptions = { listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } } };
  const told = (who: Client) => {
    client = who;
    return waiting.promise;
  };
  return { told, options };
}

async function checkChange(client: Client, told: (client: Client) => Promise<void>): Promise<void> {
  await ready(client, 'everyday');
  const isTold = told(client);
  const underWay = run(
    client,
    `import { grow, meet } from '@codemode/servers/everyday';
     import { listTools } from '@codemode/discovery';
     await grow({ name: 'grown_tool' });
     await grow({ name: 'grown_direct' });
     await meet({ count: 2 });
     globalThis.__codemode_result__ = [${NAMES}, typeof (await import('@codemode/servers/everyday')).grown_tool];`,
  );
  await isTold;
  const next = await run(
    client,
    `import { meet, grown_tool } from '@codemode/servers/everyday';
     import { listTools } from '@codemode/discovery';
     await meet({ count: 2 });
     globalThis.__codemode_result__ = [${NAMES}, await grown_tool()];`,
  );
  expect(next.result).toEqual([['grown_tool'], 'grown']);
  expect((await underWay).result).toEqual([[], 'undefined']);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['codemode_run', 'grown_direct']);
}

const ERAS: readonly Era[] = ['legacy', 'modern'];

test.each(ERAS)(
  'changed tools count from the next run on, and the client is told, over stdio, %s [A32]',
  async (era) => {
    using home = openHome(config);
    const { told, options } = listening();
    await using program = await openStdio(home, era, options);
    await checkChange(program.client, told);
  },
);

test.each(ERAS)(
  'changed tools count from the next run on, and the client is told, over HTTP, %s [A32]',
  async (era) => {
    using home = openHome(config);
    await using server = await startServe(home);
    const { told, options } = listening();
    await using connected = await server.connect(era, options);
    await checkChange(connected.client, told);
  },
);
