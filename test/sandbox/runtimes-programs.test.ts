import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProcessLanguage } from '../../src/domain/process-program.js';
import { needs } from '../support/needs.js';
import { openRuntimes, type TestRuntimes } from '../support/process-runtimes.js';
import { CallFailure } from '../support/sandbox.js';

let box: TestRuntimes;
beforeAll(async () => {
  box = await openRuntimes();
});
afterAll(() => box[Symbol.asyncDispose]());

const LANGUAGES = ['node', 'python'] as const;

/** The same program in both languages. */
type Sources = Readonly<Record<ProcessLanguage, string>>;

describe.each(LANGUAGES)('a %s program', needs('bubblewrap', 'python3'), (language) => {
  const value = (sources: Sources, options?: Parameters<TestRuntimes['value']>[2]) =>
    box.value(language, sources[language], options);
  const run = (sources: Sources, options?: Parameters<TestRuntimes['run']>[2]) =>
    box.run(language, sources[language], options);
  const echo = { echo: (input: unknown) => input };

  test('hands over `result`, prints to its own output, and starts in an empty /workspace [B4, B6]', async () => {
    const report = await run({
      node: `import { readdirSync } from 'node:fs';
        console.log('out'); console.error('err');
        globalThis.result = { where: process.cwd(), grüße: '🎉', files: readdirSync('.').sort() };`,
      python: `import os, sys
print('out'); print('err', file=sys.stderr)
result = { 'where': os.getcwd(), 'grüße': '🎉', 'files': sorted(os.listdir('.')) }`,
    });
    const files = { node: ['package.json', 'program.mjs'], python: ['program.py'] }[language];
    expect(report).toMatchObject({
      outcome: { status: 'completed' },
      resultSource: 'result',
      stdout: { text: 'out\n', isCut: false, totalBytes: 4 },
      stderr: { text: 'err\n', isCut: false, totalBytes: 4 },
      exitCode: 0,
      signal: undefined,
    });
    expect(JSON.parse((report.outcome as { resultJson: string }).resultJson)).toEqual({
      where: '/workspace',
      grüße: '🎉',
      files: ['.tmp', 'client', ...files],
    });
  });

  test('without a `result` hands over its last line, where that is JSON [B6]', async () => {
    const printed = {
      node: `console.log('working'); console.log('{"total":3}');`,
      python: `print('working')\nprint('{"total":3}')`,
    };
    expect(await run(printed)).toMatchObject({
      outcome: { status: 'completed', resultJson: '{"total":3}' },
      resultSource: 'stdout',
    });
    expect(await run({ node: `console.log('done');`, python: `print('done')` })).toMatchObject({
      outcome: { status: 'completed', resultJson: 'null' },
      resultSource: 'none',
    });
  });

  test('awaits at its top level, and calls tools one by one and all at once [B4]', async () => {
    const sources = {
      node: `import { callTool } from './client/mcp_client.js';
        const first = await callTool('test', 'echo', { n: 0 });
        globalThis.result = [first, ...await Promise.all([1, 2, 3].map((n) => callTool('test', 'echo', { n })))];`,
      python: `import asyncio
from client.mcp_client import call_tool
first = await call_tool('test', 'echo', {'n': 0})
result = [first, *await asyncio.gather(*(call_tool('test', 'echo', {'n': n}) for n in (1, 2, 3)))]`,
    };
    const slowFirst = {
      echo: async (input: unknown) => {
        // Answers come in another order than the calls.
        await new Promise((resolve) => setTimeout(resolve, (input as { n: number }).n === 1 ? 30 : 0));
        return input;
      },
    };
    expect(await value(sources, { functions: slowFirst })).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }, { n: 3 }]);
    expect(box.calls.slice(-4).map(({ target, number }) => `${number} ${target}`)).toEqual(
      [1, 2, 3, 4].map((number) => `${number} test/echo`),
    );
  });

  test('imports the modules that lie in its workspace [B4]', async () => {
    const files = {
      node: {
        'servers/git_hub/index.js': `import { callTool } from '../../client/mcp_client.js';
          export const echo = (input) => callTool('git hub', 'echo', input);`,
      },
      python: {
        'servers/__init__.py': '',
        'servers/git_hub.py': `from client.mcp_client import call_tool\nasync def echo(input): return await call_tool('git hub', 'echo', input)`,
      },
    }[language];
    const sources = {
      node: `import * as github from './servers/git_hub/index.js'; globalThis.result = await github.echo([1]);`,
      python: `from servers import git_hub\nresult = await git_hub.echo([1])`,
    };
    const handlers = { onCall: async ({ target }: { target: string }) => ({ ok: true, json: `"${target}"` }) as const };
    expect(await value(sources, { files, handlers })).toBe('git hub/echo');
  });

  test('gets a failed call as a ToolError that says whether to try again', async () => {
    const sources = {
      node: `import { callTool, ToolError } from './client/mcp_client.js';
        try { await callTool('test', 'fail'); } catch (error) {
          globalThis.result = [error instanceof ToolError, error.type, error.message, error.retryable, error.hint, error.raw.message];
        }`,
      python: `from client.mcp_client import call_tool, ToolError
try:
    await call_tool('test', 'fail')
except ToolError as error:
    result = [True, error.type, str(error), error.retryable, error.hint, error.raw['message']]`,
    };
    const fail = () => {
      throw new CallFailure('no such issue', 'SchemaValidationError');
    };
    expect(await value(sources, { functions: { fail } })).toEqual([
      true,
      'SchemaValidationError',
      'no such issue',
      false,
      'Try something else.',
      'no such issue',
    ]);
    const error = { errorClass: 'ToolCallError', message: 'm', hint: 'h', fields: { retryable: true } };
    const handlers = { onCall: async () => ({ ok: false, error }) as const };
    expect(((await value(sources, { handlers })) as unknown[])[3]).toBe(true);
  });

  test('that throws fails with the line of its author, and a stack of nothing but such lines', async () => {
    const report = await run(
      {
        node: `import { callTool } from './client/mcp_client.js';
interface Wide { readonly a: number; }
async function inner(input: Wide): Promise<void> {
  await callTool('test', 'fail', input);
}
await inner({ a: 1 });`,
        python: `from client.mcp_client import call_tool

async def inner(input):
    await call_tool('test', 'fail', input)

await inner({'a': 1})`,
      },
      { functions: { fail: () => Promise.reject(new Error('größer')) } },
    );
    const { outcome, exitCode, stderr } = report;
    expect(exitCode).toBe(1);
    expect(outcome).toMatchObject({
      status: 'failed',
      failure: { kind: 'exception', name: 'ToolError', message: 'größer', position: { line: 4 } },
    });
    const stack = outcome.status === 'failed' ? (outcome.failure.stack ?? '') : '';
    expect(stack).toContain('größer');
    expect(stack).toMatch(/program\.(mjs:4|py", line 4)/);
    expect(stack).toMatch(/program\.(mjs:6|py", line 6)/);
    expect(stack).not.toMatch(/codemode|node:|asyncio|\/client\/|\/lib\//);
    expect(stderr.text).toContain(stack.trim());
  });

  test('that does not parse fails with the place', async () => {
    const { outcome } = await run({ node: 'const a = 1;\nconst = 2;', python: 'a = 1\nb = = 2' });
    expect(outcome).toMatchObject({ status: 'failed', failure: { kind: 'syntax', position: { line: 2 } } });
  });

  test('that imports what is not there fails with the name of it', async () => {
    const { outcome } = await run({ node: `import 'left-pad';`, python: 'import left_pad' });
    expect(outcome).toMatchObject({ status: 'failed', failure: { kind: 'import' } });
    expect(outcome.status === 'failed' && outcome.failure.message).toMatch(/left.pad/);
  });

  test('whose result is not JSON fails and says so', async () => {
    const { outcome } = await run({ node: 'globalThis.result = 1n;', python: 'result = {1, 2}' });
    expect(outcome).toMatchObject({ status: 'failed', failure: { kind: 'not_serializable' } });
  });

  test('that ends with a status other than 0 has failed, in whatever way it exits [B6]', async () => {
    const asked = await run({
      node: `globalThis.result = 1; console.log('said'); process.exit(3);`,
      python: `import sys\nresult = 1\nprint('said')\nsys.exit(3)`,
    });
    expect(asked).toMatchObject({
      outcome: { status: 'failed', failure: { kind: 'exception', name: 'ExitError' } },
      exitCode: 3,
      stdout: { text: 'said\n' },
    });
    const abrupt = await run({ node: `process.reallyExit(4);`, python: `import os\nos._exit(4)` });
    expect(abrupt).toMatchObject({ outcome: { status: 'failed', failure: { name: 'ExitError' } }, exitCode: 4 });
  });

  test('that leaves early with 0 hands over what it had set [B6]', async () => {
    expect(
      await value({ node: 'globalThis.result = 7; process.exit(0);', python: 'import sys\nresult = 7\nsys.exit()' }),
    ).toBe(7);
    expect(await run({ node: `process.reallyExit(0);`, python: `import os\nos._exit(0)` })).toMatchObject({
      outcome: { status: 'failed', failure: { name: 'ExitError' } },
      resultSource: 'none',
    });
  });

  test('is waited for until nothing is left to do [B6]', async () => {
    const sources = {
      node: `import { callTool } from './client/mcp_client.js';
        callTool('test', 'echo', 5).then((n) => setTimeout(() => { globalThis.result = n; }, 20));`,
      python: `import asyncio
from client.mcp_client import call_tool
async def later():
    global result
    n = await call_tool('test', 'echo', 5)
    await asyncio.sleep(0.02)
    result = n
asyncio.get_running_loop().create_task(later())
await asyncio.sleep(0)`,
    };
    expect(await value(sources, { functions: echo })).toBe(5);
  });

  test('can start processes and threads of its own, and read what they say', async () => {
    const sources = {
      node: `import { execFileSync } from 'node:child_process'; import { Worker } from 'node:worker_threads';
        const threaded = await new Promise((resolve) => new Worker("require('worker_threads').parentPort.postMessage(2)", { eval: true }).on('message', resolve));
        globalThis.result = [execFileSync(process.execPath, ['-p', '1'], { encoding: 'utf8' }).trim(), threaded];`,
      python: `import subprocess, sys, threading
seen = []
thread = threading.Thread(target=lambda: seen.append(2)); thread.start(); thread.join()
out = subprocess.run([sys.executable, '-c', 'print(1)'], capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
result = [out.strip(), *seen]`,
    };
    expect(await value(sources)).toEqual(['1', 2]);
  });
});

describe('a python program', needs('bubblewrap', 'python3'), () => {
  test('may run its own event loop, and call tools without any [B4]', async () => {
    const source = `import asyncio
from client.mcp_client import call_tool, call_tool_sync
async def main():
    return await call_tool('test', 'echo', 1)
result = [asyncio.run(main()), asyncio.run(main()), call_tool_sync('test', 'echo', 2)]`;
    expect(await box.value('python', source, { functions: { echo: (input) => input } })).toEqual([1, 1, 2]);
  });

  test.each([
    ['at its top', '', 'await asyncio.get_running_loop().create_future()'],
    ['in a loop of its own', 'async def main(): await asyncio.Event().wait()', 'asyncio.run(main())'],
    [
      'after a call',
      'from client.mcp_client import call_tool',
      "await call_tool('test', 'echo', 1); await asyncio.Queue().get()",
    ],
  ])('that awaits %s what nothing can settle fails at once and says so', async (_, before, last) => {
    const { outcome } = await box.run('python', `import asyncio\n${before}\n${last}`, {
      functions: { echo: (input) => input },
    });
    expect(outcome).toMatchObject({ status: 'failed', failure: { kind: 'never_settled' } });
  });

  test('may leave tasks open that nothing can settle, and waits for threads and signals', async () => {
    const source = `import asyncio, signal, threading
loop = asyncio.get_running_loop()
loop.create_task(asyncio.Event().wait())
woken = loop.create_future()
threading.Timer(0.1, lambda: loop.call_soon_threadsafe(woken.set_result, 'thread')).start()
rung = loop.create_future()
loop.add_signal_handler(signal.SIGALRM, rung.set_result, 'signal')
first = await woken
signal.setitimer(signal.ITIMER_REAL, 0.1)
result = [first, await rung]
loop.remove_signal_handler(signal.SIGALRM)`;
    expect(await box.value('python', source)).toEqual(['thread', 'signal']);
  });

  test('gets an answer that Python cannot read as an error of that call, and the next one as it is', async () => {
    const source = `from client.mcp_client import call_tool, ToolError
result = []
for n in range(3):
    try:
        result.append(await call_tool('a', 'b', n))
    except ToolError as error:
        result.append(str(error)[:36])`;
    const answers = ['['.repeat(100_000) + ']'.repeat(100_000), '9'.repeat(5_000), '3'];
    const handlers = { onCall: async () => ({ ok: true, json: answers.shift() ?? '' }) as const };
    const refused = 'the answer of the tool cannot be rea';
    expect(await box.value('python', source, { handlers })).toEqual([refused, refused, 3]);
  });

  test('that forks is one program still: the fork ends without a word', async () => {
    const source = `import os
child = os.fork()
if child: os.waitpid(child, 0)
result = 'parent' if child else 'child'
print(result)`;
    const report = await box.run('python', source);
    expect(report).toMatchObject({ outcome: { resultJson: '"parent"' }, stdout: { text: 'child\nparent\n' } });
  });

  test('finds the usual modules, time zones, and classes of its own that can be copied', async () => {
    const source = `import csv, dataclasses, datetime, decimal, gc, html, json, pickle, sqlite3, ssl, statistics, uuid, zoneinfo, hashlib
@dataclasses.dataclass
class Point: x: int
copied = pickle.loads(pickle.dumps(Point(3)))
result = [copied.x, __name__, sqlite3.connect(':memory:').execute('select 2').fetchone()[0],
  datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo('Europe/Berlin')).utcoffset().seconds, hashlib.sha256(b'').hexdigest()[:4],
  ssl.HAS_TLSv1_3, gc.isenabled()]`;
    expect(await box.value('python', source)).toEqual([3, '__main__', 2, 7200, 'e3b0', true, true]);
  });
});

describe('a node program', needs('bubblewrap'), () => {
  test('that awaits what can never happen fails and says so', async () => {
    const { outcome } = await box.run('node', 'globalThis.result = 1; await new Promise(() => {});');
    expect(outcome).toMatchObject({ status: 'failed', failure: { kind: 'never_settled' } });
  });

  test('whose rejection nobody handles fails with it', async () => {
    const { outcome } = await box.run('node', `void Promise.reject(new TypeError('lost'));\nawait 0;`);
    expect(outcome).toMatchObject({
      status: 'failed',
      failure: { name: 'TypeError', message: 'lost', position: { line: 1 } },
    });
  });
});
