import { Agent, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { Gate } from './gate.js';
import { createListener } from './listener.js';
import { OpenRequests } from './open-requests.js';

test('connections that are only kept open make room for a new one, and need no token', async () => {
  const gate = new Gate({ hosts: [], isOpenToNetwork: false, origins: [] });
  const app = createListener({ gate, maxRequestBytes: 1_000, log: () => {} });
  app.get('/here', { config: { isPublic: true } }, async () => 'yes');
  app.server.maxConnections = 3;
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const ask = (agent: Agent) =>
    new Promise<number | undefined>((resolve) => {
      get({ port, path: '/here', agent }, (response) =>
        response.resume().on('end', () => resolve(response.statusCode)),
      ).on('error', () => resolve(undefined));
    });
  const idle = [1, 2, 3].map(() => new Agent({ keepAlive: true }));
  try {
    for (const agent of idle) expect(await ask(agent)).toBe(200);
    const others = new Agent();
    // The first one may still find no room; what it was in the way of is gone then.
    const first = await ask(others);
    expect([first, await ask(others)]).toContain(200);
  } finally {
    for (const agent of idle) agent.destroy();
    await app.close();
  }
});

test('requests of one caller are counted until they are answered, and take none of another', () => {
  const open = new OpenRequests(2);
  const closers: (() => void)[] = [];
  const response = { once: (_: string, listener: () => void) => closers.push(listener) } as never;
  expect([1, 2, 3].map(() => open.enter('mallory', response))).toEqual([true, true, false]);
  expect(open.enter('bob', response)).toBe(true);
  closers[0]?.();
  expect([open.of('mallory'), open.enter('mallory', response), open.enter('mallory', response)]).toEqual([
    1,
    true,
    false,
  ]);
});
