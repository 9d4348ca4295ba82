import * as z from 'zod';
import { PROGRAM_LANGUAGES, type ProcessLimits, type ProgramLanguage } from '../../domain/process-program.js';
import type { CallReply, Outcome } from '../../domain/run.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { notesSchema } from './notes-schema.js';
import type { AnsweredCall } from './recorded-call.js';
import type { RunNotes } from './run-notes.js';

/** Everything needed to replay a program on a real interpreter without any server. */
export interface ProcessRecording {
  readonly runId: string;
  readonly caller: string;
  readonly codeDigest: string;
  readonly environment: {
    readonly build: string;
    readonly node: string;
    readonly isolation: string;
    /** Version of the interpreter or compiler; absent in older recordings. */
    readonly interpreter?: string | undefined;
  };
  readonly program: {
    readonly language: ProgramLanguage;
    readonly source: string;
    readonly files: readonly (readonly [path: string, text: string])[];
    readonly limits: ProcessLimits;
    readonly seed?: number | undefined;
  };
  readonly calls: readonly AnsweredCall[];
  readonly outcome: Outcome;
  /** Absent in older recordings. */
  readonly notes?: RunNotes | undefined;
}

export const PROCESS_FORMAT = 'codemode process recording 1';

const amount = z.number().int().positive();

const reply = z.union([
  z.object({ ok: z.literal(true), json: z.string() }),
  z.object({
    ok: z.literal(false),
    error: z.object({
      errorClass: z.string(),
      message: z.string(),
      hint: z.string(),
      fields: z.record(z.string(), z.json()).optional(),
    }),
  }),
]);

const fileSchema = z.object({
  format: z.literal(PROCESS_FORMAT),
  runId: z.string(),
  caller: z.string(),
  codeDigest: z.string(),
  environment: z.object({
    ...{ build: z.string(), node: z.string(), isolation: z.string() },
    interpreter: z.string().optional(),
  }),
  program: z.object({
    language: z.enum(PROGRAM_LANGUAGES),
    source: z.string(),
    files: z.array(z.tuple([z.string(), z.string()])),
    limits: z.object({
      timeoutMs: amount,
      maxCpuMs: amount.optional(),
      maxMemoryBytes: amount,
      maxProcesses: amount,
      maxDiskBytes: amount,
      maxStdoutBytes: amount,
      maxStderrBytes: amount,
    }),
    seed: z.number().int().nonnegative().optional(),
  }),
  calls: z.array(
    z.object({
      number: z.number(),
      target: z.string(),
      argumentsJson: z.string(),
      toolDigest: z.string().optional(),
      reply: reply.optional(),
      isSent: z.literal(true).optional(),
    }),
  ),
  outcome: z.looseObject({ status: z.enum(['completed', 'failed']) }),
  notes: notesSchema.optional(),
});

export function encodeProcessRecording({ calls, ...rest }: ProcessRecording): string {
  const written = calls.map((call) => ({
    ...call,
    ...omitUndefined({ reply: ifDefined(call.reply, asText) }),
  }));
  return JSON.stringify({ format: PROCESS_FORMAT, ...rest, calls: written });
}

/** Undefined if it is not a process recording. */
export function parseProcessRecording(raw: unknown): ProcessRecording | undefined {
  const parsed = fileSchema.safeParse(raw);
  return parsed.success ? (parsed.data as unknown as ProcessRecording) : undefined;
}

function asText(reply: CallReply): CallReply {
  return reply.ok ? { ok: true, json: Buffer.from(reply.json).toString('utf8') } : reply;
}
