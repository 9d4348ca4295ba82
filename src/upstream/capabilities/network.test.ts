import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Destination } from '../../domain/capability.js';
import { fetchTool } from './network.js';

let port = 0;
let answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end('hello');
const seen: IncomingMessage[] = [];
const server = createServer((request, response) => {
  seen.push(request);
  answer(request, response);
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function use(input: object, destinations: Destination[] | null = [{ host: '127.0.0.1', ports: [port] }]) {
  const network = { destinations: destinations ?? [], maxRequestsPerSecond: 10, maxRequestBytes: 1_000 };
  const grants = destinations === null ? {} : { network };
  try {
    const result = await fetchTool.execute(input as never, {
      signal: new AbortController().signal,
      report: () => {},
      grants,
    });
    return result as { status: number; body: string; headers: Record<string, string> };
  } catch (error) {
    return (error as Error).message;
  }
}

test('a granted host is reached, and nothing else', async () => {
  expect(await use({ url: `http://127.0.0.1:${port}/x` })).toMatchObject({ status: 200, body: 'hello' });
  const before = seen.length;
  const outside = [
    `http://127.0.0.1:${port + 1}/`,
    `http://127.0.0.2:${port}/`,
    `http://[::1]:${port}/`,
    `https://127.0.0.1:${port + 1}/`,
    'http://example.com/',
  ];
  for (const url of outside) expect(await use({ url }), url).toContain('the request was not granted network:');
  expect(await use({ url: `http://127.0.0.1:${port}/` }, null)).toContain('was not granted');
  expect(seen.length).toBe(before);
});

test('a name that resolves to this machine or a private network is refused', async () => {
  const before = seen.length;
  const granted = ['localtest.invalid', '*.localhost', 'localhost'].map((host) => ({ host, ports: [port] }));
  // Resolved by the machine itself: a name of loopback that was granted as a pattern, not as it is.
  expect(await use({ url: `http://evil.localhost:${port}/` }, granted)).toMatch(/not public|cannot be reached/);
  expect(seen.length).toBe(before);
  expect(await use({ url: `http://localhost:${port}/` }, granted)).toMatchObject({ status: 200 });
});

test('other spellings of an address are that address', async () => {
  for (const url of [`http://2130706433:${port}/`, `http://0x7f.1:${port}/`, `http://127.1:${port}/`])
    expect(await use({ url }, [{ host: '10.0.0.1', ports: [port] }]), url).toContain('network:127.0.0.1:');
});

test('a redirect is checked like the first address, and takes no credentials along', async () => {
  answer = (request, response) => {
    if (request.url === '/away') response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
    else if (request.url === '/loop') response.writeHead(302, { location: '/loop' }).end();
    else if (request.url === '/other') response.writeHead(302, { location: `http://localhost:${port}/end` }).end();
    else response.end(JSON.stringify(request.headers));
  };
  const at = (path: string) => `http://127.0.0.1:${port}${path}`;
  expect(await use({ url: at('/away') })).toBe('the request was not granted network:169.254.169.254:80');
  expect(await use({ url: at('/loop') })).toContain('more than 5 redirects');
  expect(await use({ url: at('/away'), method: 'POST', body: 'x' })).toContain('which is not followed');
  const both = ['127.0.0.1', 'localhost'].map((host) => ({ host, ports: [port] }));
  const headers = { authorization: 'Bearer x', cookie: 'a=b', 'x-mine': 'stays', host: 'evil.example' };
  const there = await use({ url: at('/other'), headers }, both);
  expect(JSON.parse((there as { body: string }).body)).toMatchObject({ 'x-mine': 'stays', host: `localhost:${port}` });
  expect((there as { body: string }).body).not.toMatch(/Bearer|a=b/);
});

test('what is sent and what comes back is bounded', async () => {
  answer = (_, response) => response.end('x'.repeat(2_000));
  const url = `http://127.0.0.1:${port}/`;
  expect(await use({ url })).toContain('the answer has more than 1000 bytes');
  expect(await use({ url, method: 'POST', body: 'x'.repeat(1_001) })).toContain('the body has 1001 bytes');
});

test('only http and https, without a name and a password', async () => {
  for (const url of ['file:///etc/passwd', 'ftp://a.example/', 'data:,x', 'no address', 'http://a:b@127.0.0.1/'])
    expect(await use({ url }), url).toMatch(/is not an http or https address|is not used/);
});
