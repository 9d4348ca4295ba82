import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { RpcConnection } from './json-rpc.js';

function connection(maxMessageBytes = 1_000) {
  const input = new PassThrough();
  const output = new PassThrough();
  const broken: string[] = [];
  const rpc = new RpcConnection({
    input,
    output,
    answer: (method, params) => ({ method, params: params ?? null }),
    maxMessageBytes,
    onBroken: (reason) => broken.push(reason),
  });
  const say = (text: string) => output.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  return { rpc, input, output, broken, say };
}

test('an answer that comes in pieces settles its own request', async () => {
  const { rpc, output } = connection();
  const first = rpc.request('one', null);
  const second = rpc.request('two', null);
  const texts = ['{"jsonrpc":"2.0","id":2,"result":"ü"}', '{"jsonrpc":"2.0","id":1,"error":{"message":"no"}}'];
  const bytes = Buffer.from(texts.map((text) => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`).join(''));
  for (const byte of bytes) output.write(Buffer.of(byte));
  await expect(second).resolves.toBe('ü');
  await expect(first).rejects.toThrow('no');
});

test('what the other side asks is answered under its id', async () => {
  const { input, say } = connection();
  say('{"jsonrpc":"2.0","id":7,"method":"readFile","params":"/p/a.ts"}');
  const [answer] = (await input.iterator().next()).value.toString().match(/\{.*\}$/s) ?? [];
  expect(JSON.parse(answer as string)).toEqual({
    jsonrpc: '2.0',
    id: 7,
    result: { method: 'readFile', params: '/p/a.ts' },
  });
});

test.each([
  ['a message that is too large', 'Content-Length: 100000\r\n\r\n'],
  ['text that is not a message', 'x'.repeat(300)],
  ['an answer to nothing', 'Content-Length: 17\r\n\r\n{"id":9,"a":"bc"}'],
  ['text that does not parse', 'Content-Length: 3\r\n\r\n{a}'],
])('%s breaks the connection and fails what is open', async (_, sent) => {
  const { rpc, output, broken } = connection();
  const open = rpc.request('one', null);
  output.write(sent);
  await expect(open).rejects.toThrow();
  expect(broken).toHaveLength(1);
});

test('a peer that sends and does not read is paused until it reads again', async () => {
  const file = 'x'.repeat(1024 * 1024);
  const { input, output } = { input: new PassThrough(), output: new PassThrough() };
  let asked = 0;
  new RpcConnection({
    ...{ input, output, maxMessageBytes: 1_000 },
    answer: () => {
      asked += 1;
      return file;
    },
    onBroken: (reason) => expect(reason).toBe(''),
  });
  const text = '{"jsonrpc":"2.0","id":7,"method":"readFile","params":"/p/a.ts"}';
  for (let count = 0; count < 100; count++) output.write(`Content-Length: ${text.length}\r\n\r\n${text}`);
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toBeLessThan(20);
  input.resume();
  await expect.poll(() => asked).toBe(100);
});

test('a flood of messages breaks the connection', async () => {
  const { output, broken } = connection();
  const text = '{"jsonrpc":"2.0","method":"x"}';
  const flood = `Content-Length: ${text.length}\r\n\r\n${text}`.repeat(10_000);
  for (let count = 0; count < 10 && broken.length === 0; count++) {
    output.write(flood);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(broken).toEqual(['it sent more than the type checker may send']);
});
