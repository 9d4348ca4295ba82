import * as z from 'zod';
import type { RunDetail } from '../../../domain/console/runs.js';
import { HostError } from '../../../domain/errors.js';
import { RUN_STATES } from '../../../domain/run.js';
import { decodeRecording } from '../../recordings/recording.js';
import { EXPORT_FORMAT } from './export-format.js';
import { factsOf } from './recorded-run.js';

const text = z.string().max(1024 * 1024);
const time = z.number().nonnegative();

/** A file that anybody wrote: what a screen shows is read field by field, and nothing else is believed. */
const call = z.object({
  number: z.number().int().optional(),
  serverId: text,
  toolName: text,
  target: text,
  isTool: z.boolean(),
  line: z.number().int().optional(),
  startedAtMs: time.optional(),
  durationMs: time.optional(),
  verdict: text.optional(),
  resultBytes: time.optional(),
  answeredAt: z.number().int().optional(),
  redactions: z.record(z.string(), z.number()).optional(),
  approval: z
    .object({ id: text, state: text, askedAtMs: time.optional(), decidedAtMs: time.optional(), by: text.optional() })
    .optional(),
  labels: z.array(text).max(10),
  isReadOnly: z.boolean().optional(),
});

const run = z.object({
  runId: text,
  state: z.enum(RUN_STATES),
  caller: text,
  profile: text,
  title: text.optional(),
  createdAtMs: time,
  updatedAtMs: time,
  durationMs: time.optional(),
  pendingApprovals: time,
  program: z.object({ source: text, language: text, codeDigest: text }).optional(),
  recordingNote: text.optional(),
  engine: z.object({ name: text, build: text, node: text, isolation: text }).optional(),
  limits: z.record(z.string(), z.json()).optional(),
  usage: z.object({ cpuMs: time.optional(), memoryBytes: time.optional(), calls: time }).optional(),
  calls: z.array(call).max(5_000),
  callCount: time,
  logs: z.array(z.object({ level: text, message: text, timeMs: z.number() })).max(100_000),
  outcome: z
    .union([
      z.object({ status: z.literal('completed'), result: z.json(), isCut: z.boolean(), resultBytes: time }),
      z.object({
        status: z.literal('failed'),
        ...{ kind: text, name: text, message: text, hint: text.optional(), stack: text.optional() },
        position: z.object({ line: time, column: time }).optional(),
      }),
    ])
    .optional(),
  answer: z.json(),
  isAnswerCut: z.boolean(),
  deliveryCount: time,
});

const file = z.object({ format: z.literal(EXPORT_FORMAT), run, recording: z.json().optional() });
const FORMATS = 'a file that the console exported, or one of: codemode replay RUN --export FILE';

/** The run in such a file. A bare recording is read too. Nothing is stored or run. Throws `bad_input`. */
export function readExportedRun(body: unknown): RunDetail {
  const parsed = file.safeParse(body);
  if (parsed.success) return { ...(parsed.data.run as unknown as RunDetail), approvals: [], isFromFile: true };
  if (typeof body === 'object' && body !== null && 'format' in body && String(body.format) === EXPORT_FORMAT)
    throw new HostError(
      'bad_input',
      `This file cannot be opened: ${parsed.error.issues[0]?.path.join('.')} is not as it was exported.`,
    );
  return fromRecording(body);
}

function fromRecording(body: unknown): RunDetail {
  let recording: ReturnType<typeof decodeRecording>;
  try {
    recording = decodeRecording(JSON.stringify(body));
  } catch {
    throw new HostError('bad_input', `This is no run: choose ${FORMATS}.`);
  }
  const { program, engine, limits, outcome, calls, deliveries, startedAtMs = 0 } = factsOf(recording);
  const answered = new Map(deliveries.flatMap((each, index) => ('call' in each ? [[each.call, index] as const] : [])));
  return {
    ...{ runId: recording.runId, caller: recording.caller, profile: 'unknown', createdAtMs: startedAtMs },
    state: recording.outcome.status === 'completed' ? 'succeeded' : 'failed',
    updatedAtMs: deliveries.at(-1)?.atMs ?? startedAtMs,
    pendingApprovals: 0,
    ...(program === undefined ? {} : { program }),
    ...(engine === undefined ? {} : { engine }),
    ...(limits === undefined ? {} : { limits }),
    ...(outcome === undefined ? {} : { outcome }),
    calls: calls.slice(0, 5_000).map(({ number, target }) => {
      const [serverId = '', ...rest] = target.split('/');
      const isTool = !target.startsWith('@') && rest.length > 0;
      const position = answered.get(number);
      const at = position === undefined ? {} : { answeredAt: position };
      return { number, serverId, toolName: rest.join('/'), target, isTool, labels: [], ...at };
    }),
    callCount: calls.length,
    ...{ logs: [], answer: null, isAnswerCut: false, deliveryCount: deliveries.length, approvals: [] },
    isFromFile: true,
  };
}
