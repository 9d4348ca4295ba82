import { expect, test } from 'vitest';
import { type Era, everyday, openHome, openStdio, ready, run, startServe } from '../../support/program.js';

const config = { mcpServers: { everyday: everyday() } };
const CODE = `import { slow } from '@codemode/servers/everyday'; globalThis.__codemode_result__ = await slow({ ms: 5_500 });`;
const ERAS: readonly Era[] = ['legacy', 'modern'];

interface Heard {
  readonly progress: number;
  readonly message?: string | undefined;
}

function checkHeard(heard: readonly Heard[]): void {
  const messages = heard.map(({ message }) => message);
  expect(messages).toEqual(
    expect.arrayContaining(['started', 'everyday.slow: half', expect.stringMatching(/^still running, \d+ s$/)]),
  );
  // It counts up, as the protocol demands.
  expect(heard.map(({ progress }) => progress)).toEqual(heard.map((_, index) => index + 1));
}

test.concurrent.each(ERAS)('a run tells a client that asks how it is going, over stdio, %s [X3]', async (era) => {
  using home = openHome(config);
  await using program = await openStdio(home, era);
  await ready(program.client, 'everyday');
  const heard: Heard[] = [];
  expect((await run(program.client, CODE, {}, { onprogress: (each) => heard.push(each) })).result).toBe('done');
  checkHeard(heard);
});

test.concurrent.each(ERAS)('a run tells a client that asks how it is going, over HTTP, %s [X3]', async (era) => {
  using home = openHome(config);
  await using server = await startServe(home);
  await using connected = await server.connect(era);
  await ready(connected.client, 'everyday');
  const heard: Heard[] = [];
  expect((await run(connected.client, CODE, {}, { onprogress: (each) => heard.push(each) })).result).toBe('done');
  checkHeard(heard);
});
