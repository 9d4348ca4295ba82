import { Agent, type ClientRequest, get, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { Gate } from './gate.js';
import { createListener } from './listener.js';

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

test('in-flight bodies and requests of one caller are bounded and take nothing from others', async () => {
  const identify = (token: string) => ({ principal: { subject: token, scopes: new Set(['execute'] as const) } });
  const rules = { hosts: [], isOpenToNetwork: false, origins: [] };
  const gate = new Gate(rules, { identify, adviceFor: () => '' });
  const ofCaller = { requests: 3, bytes: 2_000 };
  const app = createListener({ gate, maxRequestBytes: 1_000, log: () => {}, ofCaller });
  let begun = (): void => {};
  app.addHook('preParsing', async () => begun());
  app.post('/here', async () => 'yes');
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const opened: ClientRequest[] = [];
  /** Sends its headers and nothing of its body, and says when the host waits for that, or the status with which it refuses. */
  const open = (token: string, headers: Record<string, string>) =>
    new Promise<number | 'waits'>((resolve) => {
      begun = () => resolve('waits');
      const all = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers };
      const sent = request({ port, path: '/here', method: 'POST', headers: all }, (answer) => {
        answer.resume();
        resolve(answer.statusCode as number);
      });
      sent.on('error', () => {});
      sent.flushHeaders();
      opened.push(sent);
    });
  try {
    expect(await open('mallory', { 'content-length': '900' })).toBe('waits');
    expect(await open('mallory', { 'transfer-encoding': 'chunked' })).toBe('waits');
    expect(await open('mallory', { 'content-length': '900' })).toBe(429);
    expect(await open('mallory', { 'content-length': '10' })).toBe('waits');
    expect(await open('mallory', { 'content-length': '10' })).toBe(429);
    expect(await open('bob', { 'content-length': '900' })).toBe('waits');
  } finally {
    for (const each of opened) each.destroy();
    await app.close();
  }
});
