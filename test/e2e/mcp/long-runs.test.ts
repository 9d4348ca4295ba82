import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { compose } from '../../../src/compose/compose.js';
import type { CallerId } from '../../../src/domain/run.js';
import { createProfile } from '../../../src/profiles/registry.js';
import { ClientListing } from '../../../src/surfaces/mcp/client-listing.js';
import { CommonListing } from '../../../src/surfaces/mcp/common-listing.js';
import { type McpOptions, openSession } from '../../../src/surfaces/mcp/mcp-session.js';
import { QuestionRequests } from '../../../src/surfaces/mcp/question-requests.js';
import { createServer } from '../../../src/surfaces/mcp/server.js';
import { everyday, openHome, type Response, ready, run, until } from '../../support/program.js';

const SLOW = `import { slow } from '@codemode/servers/everyday'; globalThis.__codemode_result__ = await slow({ ms: 120_000 });`;
const LONG = { limits: { timeoutMs: 300_000 } };

/** Clients and servers of this process, because clients are answered after 50 s and no test can wait for that. */
async function open(answerWithinMs: number) {
  const home = openHome({ mcpServers: { everyday: everyday() } });
  const before = process.env.CODEMODE_HOME;
  process.env.CODEMODE_HOME = home.state;
  const { host, config } = await compose({ configFile: home.configFile });
  process.env.CODEMODE_HOME = before;
  const options: McpOptions = {
    host,
    profile: createProfile(config),
    codeMode: config.defaults.codeMode,
    version: '0',
    answerWithinMs,
    asksPeople: false,
    log: () => {},
  };
  const common = new CommonListing(options);
  const connect = async (caller: string) => {
    const gone = new AbortController();
    const session = openSession(options, caller as CallerId);
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await createServer({
      options,
      listing: new ClientListing(common, session, { isKept: true }),
      session,
      gone: gone.signal,
      clientKey: caller,
      questions: new QuestionRequests(),
    }).connect(theirs);
    const client = new Client({ name: 'test', version: '0' });
    await client.connect(ours);
    await ready(client, 'everyday');
    return { client, gone };
  };
  const close = async () => {
    await host.close();
    home[Symbol.dispose]();
  };
  return { connect, [Symbol.asyncDispose]: close };
}

test('a run longer than clients wait is answered with its id, and a later run waits for it [A8]', async () => {
  await using host = await open(1_000);
  const here = await host.connect('one');
  const meet = `import { meet } from '@codemode/servers/everyday'; globalThis.__codemode_result__ = await meet({ count: 2 });`;
  const first = await run(here.client, meet, LONG);
  expect(first).toMatchObject({ result: null, diagnostics: [{ severity: 'info', code: 'STILL_RUNNING' }] });
  const { runId } = first;
  expect(first.diagnostics[0]?.hint).toContain(`wait("${runId}")`);
  const second = await run(
    here.client,
    `import { meet } from '@codemode/servers/everyday';
     import { wait } from '@codemode/results';
     const [, answer] = await Promise.all([meet({ count: 2 }), wait('${runId}')]);
     globalThis.__codemode_result__ = answer;`,
  );
  expect((second.result as Response).result).toBe('met');
});

test('a client that asked for progress waits as long as it takes [X3]', async () => {
  await using host = await open(50);
  const here = await host.connect('one');
  const response = await run(
    here.client,
    `import { slow } from '@codemode/servers/everyday'; globalThis.__codemode_result__ = await slow({ ms: 1_000 });`,
    {},
    { onprogress: () => {} },
  );
  expect(response).toMatchObject({ result: 'done', diagnostics: [] });
});

test('a run that continued without its client ends when the client is closed [A31]', async () => {
  await using host = await open(1_000);
  const here = await host.connect('one');
  expect(await run(here.client, SLOW, LONG)).toMatchObject({ diagnostics: [{ code: 'STILL_RUNNING' }] });
  here.gone.abort();
  const count = `import { cancellations } from '@codemode/servers/everyday'; globalThis.__codemode_result__ = await cancellations();`;
  const other = await host.connect('two');
  await until(async () => (await run(other.client, count)).result === '1');
});
