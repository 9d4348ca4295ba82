import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * For clients that cannot send a token: everything that comes is passed on with it, `Host` and `Origin` untouched, so
 * that what the program says to those is what it would have said without the relay.
 */
export async function startTokenRelay(served: { readonly url: string; readonly token: string }) {
  const { hostname, port } = new URL(served.url);
  const agent = new http.Agent({ keepAlive: true });
  const relay = http.createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${served.token}` };
    const passed = http.request({ agent, hostname, port, method: request.method, path: request.url, headers });
    passed.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      // An event stream says nothing for a while, and its client waits for the headers.
      response.flushHeaders();
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    request.pipe(passed);
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  return {
    url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      const closed = once(relay, 'close');
      relay.close();
      relay.closeAllConnections();
      agent.destroy();
      await closed;
    },
  };
}
