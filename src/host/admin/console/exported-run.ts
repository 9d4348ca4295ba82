import * as z from 'zod';
import { GRANT_SCOPES } from '../../../domain/approval.js';
import { DELIVERY_KINDS, type OpenedRun, type RunDetail } from '../../../domain/console/runs.js';
import { HostError } from '../../../domain/errors.js';
import type { JsonValue } from '../../../domain/json.js';
import { MAX_SOURCE_BYTES } from '../../../domain/limits.js';
import { RUN_STATES } from '../../../domain/run.js';
import { ifDefined, omitUndefined } from '../../../lib/omit-undefined.js';
import { decodeRecording } from '../../recordings/recording.js';
import { cutText, cutValue } from './cut-value.js';
import { EXPORT_FORMAT } from './export-format.js';
import { deliveryView, factsOf } from './recorded-run.js';

const text = z.string().max(1024 * 1024);
const time = z.number().nonnegative();

/** The file is untrusted: only the fields that a screen shows are read, and each is validated. */
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
  isWaiting: z.literal(true).optional(),
  parent: z.number().optional(),
  depth: z.number().int().min(1).max(10).optional(),
  script: text.optional(),
  retries: z
    .array(z.object({ atMs: time, failure: text }))
    .max(100)
    .optional(),
  approval: z
    .object({ id: text, state: text, askedAtMs: time.optional(), decidedAtMs: time.optional(), by: text.optional() })
    .optional(),
  labels: z.array(text).max(10),
  isReadOnly: z.boolean().optional(),
});

const approval = z.object({
  ...{ id: text, call: time, digest: text, hiddenParts: time, isUnreadable: z.boolean() },
  ...{ arguments: z.json(), isCut: z.boolean(), argumentsBytes: time, createdAtMs: time, expiresAtMs: time },
  state: z.enum(['PENDING', 'APPROVED', 'DENIED', 'EXPIRED']),
  decision: z.object({ by: text, atMs: time, scope: z.enum(GRANT_SCOPES), reason: text.optional() }).optional(),
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
  toolCalls: time.optional(),
  savedTokens: z.number().optional(),
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
  approvals: z.array(approval).max(5_000).default([]),
});

const delivery = z.object({
  position: z.number().int().nonnegative(),
  kind: z.enum(DELIVERY_KINDS),
  ...{ atMs: time, call: z.number().optional(), preview: text.optional(), bytes: time.optional() },
});
const file = z.object({ format: z.literal(EXPORT_FORMAT), run, deliveries: z.array(delivery).default([]) });
const FORMATS = 'a file that the console exported, or one of: codemode replay RUN --export FILE';

const VALUE_CHARACTERS = 512 * 1024;
const PREVIEW_CHARACTERS = 400;
const MESSAGE_CHARACTERS = 20_000;
const MAX_LOGS = 2_000;
const MAX_DELIVERIES = 20_000;
const MAX_APPROVALS = 500;
const ARGUMENTS_CHARACTERS = 20_000;

/** Reads the run in an exported file, or in a bare recording. Nothing is stored or run. Throws `bad_input`. */
export function readExportedRun(body: unknown): OpenedRun {
  const parsed = file.safeParse(body);
  if (parsed.success) {
    const { run: opened, deliveries } = parsed.data;
    const shown = deliveries.slice(0, MAX_DELIVERIES).map(({ preview, ...rest }) => ({
      ...rest,
      ...omitUndefined({ preview: ifDefined(preview, (preview) => cutText(preview, PREVIEW_CHARACTERS)) }),
    }));
    return {
      run: { ...cutRun(opened as unknown as RunDetail), isFromFile: true },
      deliveries: shown as OpenedRun['deliveries'],
    };
  }
  if (typeof body === 'object' && body !== null && 'format' in body && String(body.format) === EXPORT_FORMAT)
    throw new HostError(
      'bad_input',
      `This file cannot be opened: ${parsed.error.issues[0]?.path.join('.')} is not as it was exported.`,
    );
  return fromRecording(body);
}

/** A page that shows megabytes freezes. A run from a file is cut to the same limits as a stored run. */
function cutRun(run: RunDetail): RunDetail {
  const { program, outcome, answer, isAnswerCut, logs, approvals } = run;
  const result = outcome?.status === 'completed' ? cut(outcome.result, outcome.isCut) : undefined;
  const shownAnswer = cut(answer, isAnswerCut);
  return {
    ...run,
    ...omitUndefined({
      program: ifDefined(program, (program) => ({ ...program, source: cutText(program.source, MAX_SOURCE_BYTES) })),
    }),
    ...(outcome?.status === 'completed' && result !== undefined
      ? { outcome: { ...outcome, result: result.value, isCut: result.isCut } }
      : {}),
    ...{ answer: shownAnswer.value, isAnswerCut: shownAnswer.isCut },
    approvals: approvals.slice(0, MAX_APPROVALS).map((each) => {
      const { value, isCut } = cut(each.arguments, each.isCut, ARGUMENTS_CHARACTERS);
      return { ...each, arguments: value, isCut };
    }),
    logs: logs.slice(0, MAX_LOGS).map((each) => ({ ...each, message: cutText(each.message, MESSAGE_CHARACTERS) })),
  };
}

function cut(
  value: JsonValue,
  isCut: boolean,
  most = VALUE_CHARACTERS,
): { readonly value: JsonValue; readonly isCut: boolean } {
  if (isCut && typeof value === 'string') return { value: cutText(value, most), isCut };
  return cutValue(JSON.stringify(value), most);
}

function fromRecording(body: unknown): OpenedRun {
  let recording: ReturnType<typeof decodeRecording>;
  try {
    recording = decodeRecording(JSON.stringify(body));
  } catch {
    throw new HostError('bad_input', `This is not a run: choose ${FORMATS}.`);
  }
  const { program, engine, limits, outcome, calls, deliveries, startedAtMs = 0 } = factsOf(recording);
  const answered = new Map(deliveries.flatMap((each, index) => ('call' in each ? [[each.call, index] as const] : [])));
  const run: RunDetail = {
    ...{ runId: recording.runId, caller: recording.caller, profile: 'unknown', createdAtMs: startedAtMs },
    state: recording.outcome.status === 'completed' ? 'succeeded' : 'failed',
    updatedAtMs: deliveries.at(-1)?.atMs ?? startedAtMs,
    pendingApprovals: 0,
    ...omitUndefined({ program, engine, limits, outcome }),
    calls: calls.slice(0, 5_000).map(({ number, target }) => {
      const [serverId = '', ...rest] = target.split('/');
      const isTool = !target.startsWith('@') && rest.length > 0;
      const position = answered.get(number);
      const at = omitUndefined({ answeredAt: position });
      return { number, serverId, toolName: rest.join('/'), target, isTool, labels: [], ...at };
    }),
    callCount: calls.length,
    ...{ logs: [], answer: null, isAnswerCut: false, deliveryCount: deliveries.length, approvals: [] },
    isFromFile: true,
  };
  return { run: cutRun(run), deliveries: deliveries.slice(0, MAX_DELIVERIES).map(deliveryView) };
}
