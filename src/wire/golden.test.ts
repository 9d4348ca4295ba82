import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { encodeFrame, FrameDecoder } from './frames.js';
import type { HostToProcess, HostToWorker, ProcessToHost, WorkerToHost } from './messages.js';
import { parseProcessMessage, parseWorkerMessage } from './parse.js';

/**
 * `golden/*.json` are frames as they cross: head, body, and all bytes of both in hexadecimal. The tests of every
 * language read the same files. A red line here means that an older peer would no longer understand us: raise `PROTOCOL`.
 */
interface GoldenFile {
  readonly head: { readonly type: string };
  readonly bodyEncoding: 'utf8' | 'base64';
  readonly body: string;
  readonly hex: string;
}

type Message = HostToWorker | WorkerToHost | HostToProcess | ProcessToHost;
type FieldsOf<Type extends Message['type']> = Readonly<Record<keyof Extract<Message, { type: Type }>, string>>;

const MESSAGE = { type: 'string' };
const OF_EXECUTION = { ...MESSAGE, execution: 'string' };

/** Every message with every field it has: one that is new in messages.ts does not compile until it is here. */
const FIELDS: { readonly [Type in Message['type']]: FieldsOf<Type> } = {
  'host/hello': { ...MESSAGE, protocol: 'number', build: 'string' },
  'library/load': { ...MESSAGE, library: 'string' },
  'execution/start': {
    ...OF_EXECUTION,
    library: 'string',
    language: 'string',
    seed: 'string',
    startedAtMs: 'number',
    timeoutMs: 'number',
    maxMemoryBytes: 'number',
    maxLogBytes: 'number',
    cpuQuota: 'number',
    blocking: 'boolean',
    script: 'object or null',
    body: 'object or null',
    clock: 'object or null',
    pausesAfterMs: 'number or null',
  },
  'execution/resume': {
    ...OF_EXECUTION,
    library: 'string',
    timeoutMs: 'number',
    clock: 'object or null',
    pausesAfterMs: 'number or null',
  },
  'execution/suspend': OF_EXECUTION,
  'execution/cancel': OF_EXECUTION,
  'execution/continue': OF_EXECUTION,
  'execution/finish': OF_EXECUTION,
  'call/result': { ...OF_EXECUTION, call: 'number', atMs: 'number' },
  'call/error': { ...OF_EXECUTION, call: 'number', atMs: 'number' },
  'call/locate': { ...OF_EXECUTION, call: 'number' },
  'timer/fire': { ...OF_EXECUTION, atMs: 'number' },
  'worker/ready': { ...MESSAGE, protocol: 'number', build: 'string', role: 'string' },
  'call/request': { ...OF_EXECUTION, call: 'number', target: 'string' },
  'call/site': { ...OF_EXECUTION, call: 'number', places: 'object' },
  'execution/log': { ...OF_EXECUTION, entry: 'number', level: 'string', atMs: 'number' },
  'clock/read': { ...OF_EXECUTION, reads: 'number', ticks: 'object' },
  'execution/waiting': { ...OF_EXECUTION, wakeAtMs: 'number or null', usage: 'object' },
  'execution/computing': OF_EXECUTION,
  'execution/unfit': { ...OF_EXECUTION, reason: 'string' },
  'execution/suspended': OF_EXECUTION,
  'execution/end': {
    ...OF_EXECUTION,
    failure: 'object or null',
    logsCut: 'boolean',
    usage: 'object',
    lost: 'object or absent',
    unawaited: 'object or absent',
    stillOpen: 'object or absent',
    cutOff: 'object or absent',
  },
  'process/start': OF_EXECUTION,
  'process/time': { ...OF_EXECUTION, leftMs: 'number', isHeld: 'boolean' },
  'process/file': { ...OF_EXECUTION, name: 'string' },
  'process/end': { ...OF_EXECUTION, failure: 'object or null', exitCode: 'number' },
};

const FROM_WORKER: Readonly<Record<WorkerToHost['type'], true>> = {
  'worker/ready': true,
  'call/request': true,
  'call/site': true,
  'execution/log': true,
  'clock/read': true,
  'execution/waiting': true,
  'execution/computing': true,
  'execution/unfit': true,
  'execution/suspended': true,
  'execution/end': true,
};

const FROM_PROCESS: Readonly<Record<ProcessToHost['type'], true>> = {
  'worker/ready': true,
  'call/request': true,
  'process/file': true,
  'process/end': true,
};

const FOLDER = new URL('./golden/', import.meta.url);
const files = readdirSync(FOLDER).sort();
const golden = files.map((file) => ({
  file,
  ...(JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as GoldenFile),
}));

test('every message of both directions has a golden file, and nothing else has', () => {
  expect([...new Set(golden.map(({ head }) => head.type))].sort()).toEqual(Object.keys(FIELDS).sort());
});

describe.each(golden)('$file', ({ file, head, bodyEncoding, body, hex }) => {
  const bytes = Buffer.from(body, bodyEncoding);

  test('is named after its message', () => {
    const name = head.type.replace('/', '-');
    expect(file === `${name}.json` || file.startsWith(`${name}-`)).toBe(true);
  });

  test('holds every field of its message and no other', () => {
    const fields = FIELDS[head.type as Message['type']];
    const needed = Object.entries(fields).filter(([name, kind]) => name in head || !kind.endsWith('or absent'));
    expect(Object.keys(head).sort()).toEqual(needed.map(([name]) => name).sort());
    for (const [name, value] of Object.entries(head))
      expect(fields[name as keyof typeof fields], name).toContain(value === null ? 'null' : typeof value);
  });

  test('is what we send', () => {
    expect(Buffer.concat(encodeFrame(head, bytes)).toString('hex')).toBe(hex);
  });

  test('is what we read', () => {
    const frames = new FrameDecoder().push(Buffer.from(hex, 'hex'));
    expect(frames).toHaveLength(1);
    expect(JSON.parse(String(frames[0]?.head))).toEqual(head);
    expect(frames[0]?.body.equals(bytes)).toBe(true);
  });

  const role = 'role' in head ? head.role : undefined;
  const isOfProcess = Object.hasOwn(FROM_PROCESS, head.type) && role !== 'quickjs';
  test(isOfProcess ? 'is accepted from a process, as it is' : 'is refused when a process sends it', () => {
    const sent = Buffer.from(JSON.stringify(head));
    if (isOfProcess) expect(parseProcessMessage(sent)).toEqual(head);
    else expect(() => parseProcessMessage(sent)).toThrow('unknown message');
  });

  const isOfWorker = Object.hasOwn(FROM_WORKER, head.type) && (role ?? 'quickjs') === 'quickjs';
  test(isOfWorker ? 'is accepted from a worker, as it is' : 'is refused when a worker sends it', () => {
    const sent = Buffer.from(JSON.stringify(head));
    if (isOfWorker) expect(parseWorkerMessage(sent)).toEqual(head);
    else expect(() => parseWorkerMessage(sent)).toThrow('unknown message');
  });
});
