import * as z from 'zod';
import type { EngineName } from '../../domain/engine.js';
import { HostError } from '../../domain/errors.js';
import { isJsonObject } from '../../domain/json.js';
import { eachLimit, MAX_CLOCK_TICKS } from '../../domain/limits.js';
import type { Outcome, VirtualModule } from '../../domain/run.js';
import { decodeJournal, digestOf, engineOf, type Journal, plainJournal } from '../../sandbox/journal/journal.js';
import type { EndedRun, SharedModules, StoredRecording } from '../../store/runs.js';
import { notesSchema } from './notes-schema.js';
import { encodeProcessRecording, type ProcessRecording, parseProcessRecording } from './process-recording.js';
import { MAX_RECORDING_CHARACTERS, type RecordedCall } from './recorded-call.js';
import type { RunNotes } from './run-notes.js';

/** The build that made the recording: a replay elsewhere is the same only if these match. */
export interface RecordedEnvironment {
  readonly build: string;
  readonly node: string;
  readonly isolation: string;
}

/** Everything needed to replay a program without any server, and to compare the outcome. */
export interface Recording {
  readonly runId: string;
  readonly caller: string;
  readonly codeDigest: string;
  readonly environment: RecordedEnvironment;
  readonly journal: Journal;
  readonly calls: readonly RecordedCall[];
  readonly outcome: Outcome;
  /** Absent in older recordings. */
  readonly notes?: RunNotes | undefined;
}

/** The recording of a program in the sandbox or on a real interpreter. */
export type AnyRecording = Recording | ProcessRecording;

const FORMAT = 'codemode recording 1';

const amount = z.number().nonnegative();

const fileSchema = z.object({
  format: z.literal(FORMAT),
  runId: z.string(),
  caller: z.string(),
  codeDigest: z.string(),
  environment: z.object({ build: z.string(), node: z.string(), isolation: z.string() }),
  calls: z.array(
    z.object({
      number: z.number(),
      target: z.string(),
      argumentsJson: z.string(),
      toolDigest: z.string().optional(),
    }),
  ),
  outcome: z.looseObject({ status: z.enum(['completed', 'failed']) }),
  notes: notesSchema.optional(),
  journal: z.looseObject({
    source: z.string(),
    language: z.enum(['javascript', 'typescript']),
    modules: z.array(z.looseObject({ specifier: z.string(), exports: z.array(z.looseObject({ kind: z.string() })) })),
    limits: z.object({
      ...eachLimit(() => amount),
      cpuQuota: z.number().positive().max(1).optional(),
    }),
    seed: z.string().regex(/^\d{1,20}$/),
    startedAtMs: z.number(),
    deliveries: z.array(
      z.union([
        z.looseObject({ kind: z.enum(['result', 'error']), atMs: z.number(), body: z.string() }),
        z.looseObject({ kind: z.literal('timer'), atMs: z.number(), body: z.never().optional() }),
        z.strictObject({
          kind: z.literal('clock'),
          atMs: z.number(),
          reads: z.number().int().nonnegative(),
          ticks: z.array(z.number().int().nonnegative()).max(2 * MAX_CLOCK_TICKS),
        }),
        z.strictObject({ kind: z.literal('engine'), atMs: z.number(), engine: z.enum(['quickjs', 'v8']) }),
      ]),
    ),
    calls: z.array(z.object({ target: z.string(), argumentsDigest: z.string() })),
  }),
});

/** The engine in which a run ended; undefined if nothing is recorded, or if the program ran on a real interpreter. */
export function engineIn(recording: AnyRecording | undefined): EngineName | undefined {
  return recording !== undefined && 'journal' in recording ? engineOf(recording.journal) : undefined;
}

export function encodeRecording(recording: AnyRecording): string {
  if ('program' in recording) return encodeProcessRecording(recording);
  const { journal, ...rest } = recording;
  return JSON.stringify({ format: FORMAT, ...rest, journal: plainJournal(journal) });
}

/** Encoded module lists, which runs share. */
const shared = new WeakMap<readonly VirtualModule[], SharedModules>();

/** The recording for the store, without the modules, which are stored once; undefined if it is too large to keep. */
export function storedRecording(recording: AnyRecording): Pick<EndedRun, 'recordingJson' | 'modules'> | undefined {
  if ('program' in recording) return withinBounds(encodeProcessRecording(recording), undefined);
  const { journal } = recording;
  const bytes = journal.deliveries.reduce((sum, each) => sum + ('body' in each ? each.body.byteLength : 0), 0);
  // Base64 makes it longer, so a result of 10 MB is not encoded only to be discarded.
  if (bytes > MAX_RECORDING_CHARACTERS) return undefined;
  let modules = shared.get(journal.modules);
  if (modules === undefined) {
    const json = JSON.stringify(journal.modules);
    modules = { digest: digestOf(json), json };
    shared.set(journal.modules, modules);
  }
  return withinBounds(encodeRecording({ ...recording, journal: { ...journal, modules: [] } }), modules);
}

function withinBounds(recordingJson: string, modules: SharedModules | undefined) {
  return recordingJson.length <= MAX_RECORDING_CHARACTERS ? { recordingJson, modules } : undefined;
}

/** Reads a recording from the store. */
export function recordingIn({ json, modulesJson }: StoredRecording): AnyRecording {
  if (modulesJson === undefined) return decodeRecording(json);
  const raw: unknown = JSON.parse(json);
  if (isJsonObject(raw) && isJsonObject(raw.journal)) raw.journal.modules = JSON.parse(modulesJson);
  return readRecording(raw);
}

/** Reads a recording from an untrusted file. Throws `bad_input`. */
export function decodeRecording(json: string): AnyRecording {
  let raw: unknown;
  try {
    raw = JSON.parse(json);
  } catch {
    raw = undefined;
  }
  return readRecording(raw);
}

function readRecording(raw: unknown): AnyRecording {
  const ofProcess = parseProcessRecording(raw);
  if (ofProcess !== undefined) return ofProcess;
  const parsed = fileSchema.safeParse(raw);
  if (!parsed.success)
    throw new HostError('bad_input', 'this is not a recording; make one with: codemode replay RUN --export FILE');
  const { journal, ...rest } = parsed.data;
  return { ...rest, journal: decodeJournal(JSON.stringify(journal)) } as unknown as Recording;
}
