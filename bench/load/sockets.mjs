// @ts-check
// A thousand WebSocket clients at once. Each asks again when it is answered; nobody may be forgotten.
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { summarize } from '../stats.mjs';
import { MEGABYTE, SIMPLE, startServe } from './serve.mjs';

const CALLERS = 8;
const ROUNDS = 5;
const OPENING_AT_ONCE = 50;

export async function measure({ quick }) {
  const count = quick ? 100 : 1_000;
  const serve = await startServe({ callers: CALLERS });
  const sockets = [];
  try {
    const idle = serve.measure();
    const opened = performance.now();
    for (let index = 0; index < count; index += OPENING_AT_ONCE) {
      const some = Array.from({ length: Math.min(OPENING_AT_ONCE, count - index) }, (_, more) =>
        openSocket(serve, index + more),
      );
      sockets.push(...(await Promise.all(some)));
    }
    const openedMs = performance.now() - opened;
    const connected = serve.measure();
    const start = performance.now();
    const answered = await Promise.all(sockets.map(askRepeatedly));
    const totalMs = performance.now() - start;
    const all = summarize(answered.flat());
    const last = Math.max(...answered.map((times) => times[0] ?? Number.POSITIVE_INFINITY));
    return [
      {
        name: `${count} WebSocket clients of ${CALLERS} callers: answered`,
        value: answered.filter((times) => times.length === ROUNDS).length,
        goal: { atLeast: count },
        note: `${ROUNDS} runs each, all at once: ${Math.round((count * ROUNDS * 1_000) / totalMs)} runs/s; the last client had its first answer after ${Math.round(last)} ms`,
      },
      {
        name: `${count} WebSocket clients: a run with all asking at once`,
        ...{ unit: 'ms', p50: all.p50, p95: all.p95 },
        note: `p99 ${all.p99.toFixed(0)} ms, the waiting behind the others included`,
      },
      {
        name: `${count} WebSocket clients: memory of each connection`,
        ...{ unit: 'MB', value: (connected.hostBytes - idle.hostBytes) / count / MEGABYTE },
        note: `resident in the host; opened in ${Math.round(openedMs)} ms`,
      },
    ];
  } finally {
    for (const socket of sockets) socket.terminate();
    await serve.close();
  }
}

async function openSocket(serve, index) {
  const token = serve.tokens[index % serve.tokens.length];
  const socket = new WebSocket(`${serve.url.replace('http', 'ws')}/api/v1/ws`, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
  });
  await once(socket, 'open');
  return socket;
}

/** How long each of its runs took. */
async function askRepeatedly(socket) {
  const times = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    socket.send(JSON.stringify({ id: `r${round}`, type: 'execute', payload: { code: SIMPLE.code } }));
    const [data] = await once(socket, 'message');
    const { type, payload } = JSON.parse(String(data));
    if (type !== 'result' || payload.result !== SIMPLE.answer)
      throw new Error(`a client was answered with ${String(data)}`);
    times.push(performance.now() - start);
  }
  return times;
}
