import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProcessLanguage } from '../../src/domain/process-program.js';
import { needs } from '../support/needs.js';
import { openRuntimes, type RunOptions, type TestRuntimes } from '../support/process-runtimes.js';

/**
 * Programs on real interpreters hold the descriptor on which calls and results travel. What they write there by hand is
 * a call like any other, or the end of them: there is one report, and the host believes nothing beyond it.
 */
let box: TestRuntimes;
beforeAll(async () => {
  box = await openRuntimes();
});
afterAll(() => box[Symbol.asyncDispose]());

/** Tools of an attacker: `EXECUTION` as found in the memory of the process, frames of any shape. */
const PRELUDE: Readonly<Record<ProcessLanguage, string>> = {
  node: `import fs from 'node:fs';
    const write = (bytes: Buffer) => { for (let at = 0; at < bytes.length; ) { try { at += fs.writeSync(3, bytes, at); } catch (error: any) { if (error.code !== 'EAGAIN') throw error; } } };
    const word = (value: number) => { const bytes = Buffer.alloc(4); bytes.writeUInt32LE(value >>> 0); return bytes; };
    const send = (head: unknown, body = '') => { const h = Buffer.from(JSON.stringify(head)), b = Buffer.from(body); write(Buffer.concat([word(4 + h.length + b.length), word(h.length), h, b])); };
    const sleep = () => new Promise((resolve) => setTimeout(resolve, 20_000));\n`,
  python: `import json, os, struct, time, asyncio
def write(data): os.write(3, data)
def word(value): return struct.pack('<I', value)
def send(head, body=''):
    h, b = json.dumps(head).encode(), body.encode()
    write(word(4 + len(h) + len(b)) + word(len(h)) + h + b)
def sleep(): return asyncio.sleep(20)\n`,
};

const EXECUTION = '11111111-2222-4333-8444-555555555555';

describe.each(['node', 'python'] as const)('a %s program', needs('bubblewrap', 'python3'), (language) => {
  /** The calls of the attacker read the same in both languages. */
  const attack = (lines: string, options: RunOptions = {}) => {
    const source = language === 'node' ? lines : lines.replaceAll('null', 'None').replaceAll('Buffer.from', 'bytes');
    return box.run(language, PRELUDE[language] + source, {
      ...options,
      handlers: { runId: EXECUTION as never, ...options.handlers },
    });
  };
  const wait = '\nawait sleep()';

  test.each([
    ['that is not a frame', `write(Buffer.from([255, 255, 255, 255, 255, 255, 255, 255, 1, 2, 3]))`],
    ['that announces four gigabytes', `write(word(4294967295)); write(word(10))`],
    ['whose head is longer than the frame', `write(word(4)); write(word(100))`],
    ['that is not a message', `send({"type": "execution/suspended", "execution": "${EXECUTION}"})`],
    [
      'with a field too many',
      `send({"type": "call/request", "execution": "${EXECUTION}", "call": 1, "target": "a/b", "x": 1}, "[]")`,
    ],
    ['for another program', `send({"type": "call/request", "execution": "another", "call": 1, "target": "a/b"}, "[]")`],
    ['out of order', `send({"type": "call/request", "execution": "${EXECUTION}", "call": 7, "target": "a/b"}, "[]")`],
    ['that says hello again', `send({"type": "worker/ready", "protocol": 2, "build": "x", "role": "${language}"})`],
  ])('that writes something %s to its channel is stopped, and no tool is called', async (_, lines) => {
    const before = box.calls.length;
    const { outcome } = await attack(lines + wait);
    expect(outcome).toMatchObject({ status: 'failed', failure: { kind: 'worker_lost' } });
    expect(box.calls.length).toBe(before);
  });

  test('that forges a call has made a call, which the same handler answers', async () => {
    const seen: string[] = [];
    const { outcome } = await attack(
      `send({"type": "call/request", "execution": "${EXECUTION}", "call": 1, "target": "bank/transfer"}, "[1]")${wait}`,
      {
        limits: { timeoutMs: 1_000 },
        handlers: {
          onCall: async ({ target, argumentsJson, runId }) => {
            seen.push(`${runId} ${target} ${argumentsJson}`);
            return { ok: false, error: { errorClass: 'ToolCallError', message: 'denied', hint: '' } };
          },
        },
      },
    );
    expect(seen).toEqual([`${EXECUTION} bank/transfer [1]`]);
    expect(outcome.status).toBe('failed');
  });

  test('that forges its own end gets that end, once, and is gone', async () => {
    const end = (exitCode: number, body: string) =>
      `send({"type": "process/end", "execution": "${EXECUTION}", "failure": null, "exitCode": ${exitCode}}, '${body}')\n`;
    expect(await attack(end(0, '{"mine":1}') + end(0, '2') + wait)).toMatchObject({
      outcome: { status: 'completed', resultJson: '{"mine":1}' },
      exitCode: 0,
    });
    expect((await attack(end(0, 'no JSON') + wait)).outcome).toMatchObject({
      status: 'failed',
      failure: { kind: 'worker_lost' },
    });
  });

  test('that writes garbage everywhere and leaves still has one report', async () => {
    const source = {
      node: `import fs from 'node:fs'; for (const fd of [0, 1, 2]) try { fs.writeSync(fd, Buffer.from([0xff, 0xfe, 0, 10])); } catch {} process.reallyExit(0);`,
      python: `import os\nfor fd in (0, 1, 2):\n    try: os.write(fd, b'\\xff\\xfe\\x00\\n')\n    except OSError: pass\nos._exit(0)`,
    }[language];
    const report = await box.run(language, source);
    expect(report.outcome).toMatchObject({ status: 'failed', failure: { name: 'ExitError' } });
    expect(report.stdout).toEqual({ text: '\ufffd\ufffd\0\n', isCut: false, totalBytes: 4 });
  });

  test('that closes its channel can fail and succeed by its status alone', async () => {
    const close = {
      node: `import fs from 'node:fs'; fs.closeSync(3); console.log('[1]');`,
      python: `import os\nos.close(3)\nprint('[1]')`,
    };
    expect(await box.run(language, `${close[language]}`)).toMatchObject({
      outcome: { status: 'completed', resultJson: '[1]' },
    });
    const fail = { node: `throw new Error('x');`, python: `raise ValueError('x')` }[language];
    expect(await box.run(language, `${close[language]}\n${fail}`)).toMatchObject({
      outcome: { status: 'failed' },
      exitCode: 1,
    });
  });

  test('that makes more calls at once than may be open is stopped', async () => {
    const source = {
      node: `import { callTool } from './client/mcp_client.js'; await Promise.all(Array.from({ length: 10_001 }, () => callTool('a', 'b')));`,
      python: `import asyncio\nfrom client.mcp_client import call_tool\nawait asyncio.gather(*(call_tool('a', 'b') for _ in range(10_001)))`,
    }[language];
    const { outcome } = await box.run(language, source, { handlers: { onCall: () => new Promise(() => {}) } });
    expect(outcome).toMatchObject({ status: 'failed', failure: { kind: 'limit', limit: 'output' } });
  });

  test('whose answering fails inside the host is told so, and nothing of ours', async () => {
    const source = {
      node: `import { callTool } from './client/mcp_client.js'; try { await callTool('a', 'b'); } catch (error: any) { globalThis.result = error.message; }`,
      python: `from client.mcp_client import call_tool\ntry: await call_tool('a', 'b')\nexcept Exception as error: result = str(error)`,
    }[language];
    const handlers = { onCall: () => Promise.reject(new Error('secret path /root/x')) };
    expect(await box.value(language, source, { handlers })).toBe('the call failed inside the host');
  });
});
