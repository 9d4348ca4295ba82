import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { CallerQuotas } from '../../domain/quotas.js';
import { Gate } from '../http/gate.js';
import { WebSocketApi } from './websocket.js';

test('incomplete messages are bounded per caller, over all its connections', async () => {
  const identify = (token: string) => ({ principal: { subject: token, scopes: new Set(['execute'] as const) } });
  const gate = new Gate({ hosts: [], isOpenToNetwork: false, origins: [] }, { identify, adviceFor: () => '' });
  const rest = { options: { host: { quotas: new CallerQuotas() }, pingEveryMs: 60_000 } } as never;
  const api = new WebSocketApi(rest, 100_000);
  const http = createServer().listen(0, '127.0.0.1');
  await once(http, 'listening');
  api.attach(http, gate, 1_000_000);
  const open = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    const socket = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}/api/v1/ws`, { headers });
    socket.on('error', () => {});
    await once(socket, 'open');
    return socket;
  };
  const sockets = [await open('mallory'), await open('mallory'), await open('mallory'), await open('bob')];
  const bob = sockets.at(-1) as WebSocket;
  const cut = Promise.race(sockets.slice(0, 3).map((socket) => once(socket, 'close')));
  try {
    for (const socket of sockets) socket.send('x'.repeat(60_000), { fin: false });
    await cut;
    expect(bob.readyState).toBe(WebSocket.OPEN);
    // His message comes to its end, and is answered.
    const answer = once(bob, 'message');
    bob.send('y', { fin: true });
    expect(String((await answer)[0])).toContain('VALIDATION_ERROR');
  } finally {
    for (const socket of sockets) socket.terminate();
    api.close();
    http.close();
  }
});
