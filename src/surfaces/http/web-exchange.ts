import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Carries one exchange between Node's HTTP and the web's `Request` and `Response`. The request has no body: the
 * caller has read it. Its signal is aborted when the client disconnects before the response is complete. The response
 * stream is cancelled at that moment, not at the next write.
 */
export async function exchange(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  handle: (request: Request) => Promise<Response>,
): Promise<void> {
  const hungUp = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) hungUp.abort();
  });
  const { method = 'GET', url = '/', headers } = incoming;
  const request = new Request(`http://${headers.host ?? 'localhost'}${url}`, {
    method,
    headers: Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' ? [[name, value]] : (value ?? []).map((each) => [name, each]),
    ),
    signal: hungUp.signal,
  });
  const response = await handle(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body !== null) await pipe(response.body, outgoing, hungUp.signal);
  outgoing.end();
}

async function pipe(body: ReadableStream<Uint8Array>, outgoing: ServerResponse, hungUp: AbortSignal): Promise<void> {
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => {});
  if (hungUp.aborted) return cancel();
  hungUp.addEventListener('abort', cancel, { once: true });
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    if (!outgoing.write(next.value)) await drained(outgoing);
  }
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done).off('close', done);
      resolve();
    };
    outgoing.on('drain', done).on('close', done);
    if (outgoing.destroyed) done();
  });
}
