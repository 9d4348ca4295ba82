import * as z from 'zod';
import { MAX_CLOCK_TICKS } from '../domain/limits.js';
import type { CallNumber, RunId } from '../domain/run.js';
import { commonMessage } from './common-messages.js';
import { FrameError } from './frames.js';
import {
  MAX_CALL_PLACES,
  MAX_LOST_PLACES,
  MAX_UNAWAITED_CALLS,
  type ProcessToHost,
  type WorkerToHost,
} from './messages.js';

/** The host generates no code to parse untrusted bytes. */
z.config({ jitless: true });

const execution = z
  .string()
  .min(1)
  .max(64)
  .transform((id) => id as RunId);
const call = z
  .number()
  .int()
  .min(1)
  .max(2 ** 31)
  .transform((number) => number as CallNumber);
const count = z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER);
const clock = z.number().finite().nonnegative().max(Number.MAX_SAFE_INTEGER);
const text = (most: number) => z.string().max(most);

const position = z.strictObject({ line: count, column: count });
const failure = z.strictObject({
  kind: z.enum([
    'syntax',
    'type',
    'import',
    'exception',
    'limit',
    'never_settled',
    'not_serializable',
    'cancelled',
    'forbidden',
    'worker_lost',
  ]),
  name: text(256),
  message: text(8_192),
  hint: text(4_096).exactOptional(),
  errorClass: text(256).exactOptional(),
  stack: text(8_192).exactOptional(),
  position: position.exactOptional(),
  limit: z.enum(['timeout', 'memory', 'stack', 'output', 'calls', 'disk', 'processes', 'cpu']).exactOptional(),
  module: text(512).exactOptional(),
});

const usage = z.strictObject({ cpuMs: clock, memoryBytes: count });

const places = z.array(text(512)).max(MAX_LOST_PLACES);
const unawaitedCall = z.strictObject({ name: text(256), times: count, position: position.exactOptional() });
const unawaitedCalls = z.strictObject({ count, calls: z.array(unawaitedCall).max(MAX_UNAWAITED_CALLS) });

const callRequest = z.strictObject({ type: z.literal('call/request'), execution, call, target: text(1_024) });

/** Exported for the test that compares `commonMessage` with it. */
export const workerToHost = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('worker/ready'),
    protocol: count,
    build: text(128),
    role: z.enum(['quickjs', 'v8']),
  }),
  callRequest,
  z.strictObject({
    type: z.literal('call/site'),
    execution,
    call,
    places: z.array(position).max(MAX_CALL_PLACES),
  }),
  z.strictObject({
    type: z.literal('execution/log'),
    execution,
    entry: count,
    level: z.enum(['debug', 'log', 'warn', 'error']),
    atMs: clock,
  }),
  z.strictObject({
    type: z.literal('clock/read'),
    execution,
    reads: count,
    ticks: z.array(count).max(2 * MAX_CLOCK_TICKS),
  }),
  z.strictObject({ type: z.literal('execution/waiting'), execution, wakeAtMs: clock.nullable(), usage }),
  z.strictObject({ type: z.literal('execution/computing'), execution }),
  z.strictObject({ type: z.literal('execution/unfit'), execution, reason: text(1_024) }),
  z.strictObject({ type: z.literal('execution/suspended'), execution }),
  z.strictObject({
    type: z.literal('execution/end'),
    execution,
    failure: failure.nullable(),
    logsCut: z.boolean(),
    usage,
    lost: z
      .strictObject({ count, places, promises: z.strictObject({ count, places }).exactOptional() })
      .exactOptional(),
    unawaited: unawaitedCalls.exactOptional(),
    stillOpen: unawaitedCalls.exactOptional(),
    cutOff: z.strictObject({ calls: count, hasTimer: z.boolean() }).exactOptional(),
  }),
]);

const processToHost = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('worker/ready'),
    protocol: count,
    build: text(128),
    role: z.enum(['node', 'python', 'go', 'go-build']),
  }),
  callRequest.extend({ line: count.exactOptional() }),
  z.strictObject({ type: z.literal('process/file'), execution, name: text(256) }),
  z.strictObject({
    type: z.literal('process/end'),
    execution,
    failure: failure.nullable(),
    exitCode: z.number().int().min(0).max(255),
  }),
]);

/** Reads one head from a worker. Throws `FrameError` if it is not exactly one of our messages. */
export function parseWorkerMessage(head: Buffer): WorkerToHost {
  const value = jsonOf(head);
  return commonMessage(value) ?? parseWith(workerToHost, value);
}

/** The same for a process that runs a program on a real interpreter. */
export function parseProcessMessage(head: Buffer): ProcessToHost {
  return parseWith(processToHost, jsonOf(head));
}

function jsonOf(head: Buffer): unknown {
  try {
    return JSON.parse(head.toString('utf8'));
  } catch {
    throw new FrameError('a worker sent a head that is not JSON');
  }
}

function parseWith<Message>(schema: z.ZodType<Message>, value: unknown): Message {
  const parsed = schema.safeParse(value);
  if (!parsed.success)
    throw new FrameError(`a worker sent an unknown message: ${parsed.error.issues[0]?.message ?? 'unknown shape'}`);
  return parsed.data;
}

/** What the schemas above accept. A type test holds them equal to `WorkerToHost` and `ProcessToHost`. */
export type ParsedWorkerMessage = z.output<typeof workerToHost>;
export type ParsedProcessMessage = z.output<typeof processToHost>;
