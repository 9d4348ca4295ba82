import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../support/needs.js';
import { LANGUAGES, RunnerHome, read, type Sources } from '../../support/runner.js';

let home: RunnerHome;
beforeAll(() => {
  home = new RunnerHome({ runner: { disk: '8MB', processes: 16 }, sandbox: { limits: { calls: 2 } } });
});
afterAll(() => home[Symbol.dispose]());

describe.each(LANGUAGES)('one rule for both languages: %s', needs('bubblewrap', 'python3'), (language) => {
  const run = (sources: Sources, ...words: string[]) => home.runner([language, ...words], sources[language]);

  test('a process that ends on the spot has failed: its result could not be read [B6]', async () => {
    const { error } = await run({
      node: 'globalThis.result = 7; process.reallyExit(0);',
      python: 'import os\nresult = 7\nos._exit(0)',
    });
    expect(error).toMatchObject({ type: 'ExitError', message: expect.stringContaining('before its result') });
    const printed = await run({
      node: `console.log('[7]'); process.reallyExit(0);`,
      python: `import os\nprint('[7]', flush=True)\nos._exit(0)`,
    });
    expect(printed.data).toEqual([7]);
  });

  test('numbers that JSON does not have are refused with their place, and 1.0 is 1 [B6]', async () => {
    const { error } = await run({
      node: 'const same = {}; globalThis.result = { same, items: [same, { price: Number.NaN }] };',
      python: `same = {}\nresult = { 'same': same, 'items': [same, { 'price': float('nan') }] }`,
    });
    const place = { node: 'NaN at /items/1/price ', python: 'at result["items"][1]["price"]' }[language];
    expect(error).toMatchObject({
      type: 'NotSerializable',
      retryable: false,
      message: expect.stringContaining(place),
    });
    const whole = await run({ node: 'globalThis.result = [1.0, -0.5];', python: 'result = [1.0, -0.5]' });
    expect(whole.line).toContain('"data":[1,-0.5]');
  });

  test('arguments that are not JSON are refused before anything is called [B11]', async () => {
    const { data } = await run({
      node: `import { add } from './servers/every_day/index.js';
        import { normalize } from './client/mcp_client.js';
        const inputs = [Number.NaN, new Map(), /x/, new Error('x'), new Uint8Array(1), new Date(Number.NaN), { a: [Infinity] }];
        const errors = [];
        for (const a of inputs) errors.push((await normalize(() => add({ a, b: 1 }))).error);
        const silent = errors.filter(({ message }) => !/ at \\/a(?:\\/a\\/0)? cannot be written as JSON/.test(message));
        if (silent.length > 0) throw new Error(JSON.stringify(silent));
        globalThis.result = errors[0];`,
      python: `from servers.every_day import add
from client.mcp_client import normalize
result = (await normalize(add({'a': float('nan'), 'b': {1, 2}})))['error']`,
    });
    expect(data).toMatchObject({
      type: 'InvalidArguments',
      message: expect.stringContaining('the arguments are not JSON'),
    });
  });

  test('a call too many is a CallLimit with the key of the configuration, caught or not [B9]', async () => {
    const key = expect.stringContaining('raise sandbox.limits.calls in the configuration');
    const { data } = await run({
      node: `import { add } from './servers/every_day/index.js';
        try { for (;;) await add({ a: 1, b: 1 }); } catch (error) { globalThis.result = [error.type, error.hint]; }`,
      python: `from servers.every_day import add
from client.mcp_client import ToolError
try:
    while True: await add({'a': 1, 'b': 1})
except ToolError as error: result = [error.type, error.hint]`,
    });
    expect(data).toEqual(['CallLimit', key]);
    const { error } = await run({
      node: `import { add } from './servers/every_day/index.js'; for (;;) await add({ a: 1, b: 1 });`,
      python: `from servers.every_day import add\nwhile True: await add({'a': 1, 'b': 1})`,
    });
    expect(error).toMatchObject({ type: 'CallLimit', retryable: false, message: key });
    expect(String(error?.message)).not.toContain('maxToolCalls');
  });

  test('a full disk, too many processes and deep recursion have their own types and real keys [B9]', async () => {
    const disk = await run({
      node: `import fs from 'node:fs'; fs.writeFileSync('/workspace/x', Buffer.alloc(20_000_000));`,
      python: `open('/workspace/x', 'wb').write(b'x' * 20_000_000)`,
    });
    expect(disk.error).toMatchObject({ type: 'DiskLimit', message: expect.stringContaining('runner.disk') });
    const processes = await run({
      node: `import { spawn } from 'node:child_process';
        for (let n = 0; n < 40; n++) spawn(process.execPath, ['-e', 'setTimeout(() => {}, 5000)']);
        await new Promise((resolve) => setTimeout(resolve, 5000));`,
      python: `import threading, time\nfor n in range(40): threading.Thread(target=time.sleep, args=(5,)).start()`,
    });
    expect(processes.error).toMatchObject({
      type: 'ProcessLimit',
      message: expect.stringContaining('runner.processes'),
    });
    const stack = await run({
      node: 'const f = (n) => f(n + 1) + 1; f(0);',
      python: 'def f(n):\n    return f(n + 1) + 1\nf(0)',
    });
    expect(stack.error).toMatchObject({ type: 'StackLimit' });
    const memory = await run({
      node: 'const all = []; for (;;) all.push(new Uint8Array(10_000_000).fill(1));',
      python: 'x = bytearray(900_000_000)',
    });
    expect(memory.error).toMatchObject({ type: 'MemoryLimit', message: expect.stringContaining('memory_bytes') });
    const time = await run({ node: 'for (;;) {}', python: 'while True: pass' }, '--timeout', '300');
    expect(time.error).toMatchObject({
      type: 'Timeout',
      retryable: true,
      message: expect.stringContaining('sandbox.limits.timeout'),
    });
  });

  test('64 KiB are counted as they are printed, not as escapes on the way [B7]', async () => {
    const { data, line } = await run({
      node: `globalThis.result = 'ü'.repeat(31_000);`,
      python: `result = 'ü' * 31_000`,
    });
    expect(data).toBe('ü'.repeat(31_000));
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(65_536);
    const { error } = await run({ node: `globalThis.result = 'x'.repeat(66_000);`, python: `result = 'x' * 66_000` });
    expect(error).toMatchObject({
      type: 'OutputTooLarge',
      message: expect.stringMatching(/66002 bytes.*runner\.stdout/),
    });
  });

  test('a traceback is not lost behind output, and every cut is marked [B7]', async () => {
    const ended = await run({
      node: `for (let n = 0; n < 4000; n++) console.log('out'.repeat(40));
        for (let n = 0; n < 4000; n++) console.error('err'.repeat(40));
        throw new RangeError('the one that counts');`,
      python: `import sys
for n in range(4000): print('out' * 40)
for n in range(4000): print('err' * 40, file=sys.stderr)
raise RuntimeError('the one that counts')`,
    });
    // On a slow machine codemode says what it waits for.
    const stderr = ended.stderr.replace(/^codemode: .*\n/gm, '');
    expect(Buffer.byteLength(stderr)).toBeLessThanOrEqual(262_144);
    const shape = stderr.replace(/(?:^o[out]*\n)+/gm, 'OUT\n').replace(/(?:^e[er]*\n)+/gm, 'ERR\n');
    expect(shape).toMatch(
      /^OUT\n<TRUNCATED>\nERR\n<TRUNCATED>\n[\s\S]*Error: the one that counts[\s\S]*<TRUNCATED>\n$/,
    );
    expect(stderr.split('err'.repeat(40)).length).toBeGreaterThan(1_000);
  });
});

describe('codemode runner', needs('bubblewrap'), () => {
  test.each(['throw null', 'throw undefined', `throw 'text'`, 'throw { a: 1 }'])(
    '%s is an Error that says what was thrown [B3]',
    async (source) => {
      const { error, stderr } = await home.runner(['node'], source);
      expect(error).toMatchObject({ type: 'Error', message: expect.stringContaining('the program threw') });
      expect(stderr).toContain('the program threw');
    },
  );

  test.each(['SIGTERM', 'SIGQUIT', 'SIGINT', 'SIGHUP'])(
    '%s while the program is being loaded still gives one line [B1]',
    async (signal) => {
      // As soon as the process listens at all: some tenths of a second before the command is there.
      const preload = `const look = setInterval(() => {
        if (process.listenerCount('${signal}') === 0) return;
        clearInterval(look);
        process.kill(process.pid, '${signal}');
      }, 1).unref();`;
      const ended = await home.run(['--config', home.config, 'runner', 'node'], {
        input: 'globalThis.result = 1',
        env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}` },
      });
      expect(read(ended)).toMatchObject({
        status: 1,
        error: { type: 'Cancelled', message: expect.stringContaining(signal) },
      });
    },
  );
});
