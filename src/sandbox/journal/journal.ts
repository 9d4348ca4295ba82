import { hash } from 'node:crypto';
import type { EngineChoice, EngineName } from '../../domain/engine.js';
import type { Limits } from '../../domain/limits.js';
import type {
  BodyForm,
  CallNumber,
  Failure,
  Program,
  RunId,
  ScriptForm,
  SourceLanguage,
  VirtualModule,
} from '../../domain/run.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { takeRandom } from '../../lib/secrets/random-supply.js';
import type { ClockRecord } from '../../wire/messages.js';

/**
 * Everything that ever reached a program, in order: the deliveries, and how its clock moved in between. Its random numbers follow
 * from the seed, so the same journal rebuilds the same program in the same state: in another worker after one was lost, in another
 * build after an upgrade, or years later in a replay.
 */
export interface Journal {
  readonly runId: RunId;
  readonly source: string;
  readonly language: SourceLanguage;
  readonly modules: readonly VirtualModule[];
  readonly limits: Limits;
  readonly blocking: boolean;
  /** If both this and `body` are absent, it is a module. */
  readonly script?: ScriptForm;
  readonly body?: BodyForm;
  readonly seed: string;
  readonly startedAtMs: number;
  /** Absent in journals of older versions, whose clock moves only when something is delivered. */
  readonly clock?: 'moving';
  /** The engines it may use; absent in journals of older versions, and if the host's choice applies. */
  readonly engine?: EngineChoice;
  readonly deliveries: Delivery[];
  /** The program's calls, to verify that a rebuilt program makes the same ones. */
  readonly calls: JournalCall[];
  /** The call whose answer ended the program, and the failure. */
  endedBy?: { readonly call: CallNumber; readonly failure: Failure };
}

export type Delivery =
  | Answer
  | { readonly kind: 'timer'; readonly atMs: number }
  /** How the program read its clock since the previous entry. */
  | ({ readonly kind: 'clock'; readonly atMs: number } & ClockRecord)
  /** From here on the program is in this engine, which has replayed everything before. */
  | { readonly kind: 'engine'; readonly atMs: number; readonly engine: EngineName };

/** The outcome of a call. */
export interface Answer {
  readonly kind: 'result' | 'error';
  readonly call: CallNumber;
  readonly atMs: number;
  readonly body: Uint8Array;
}

export interface JournalCall {
  readonly target: string;
  readonly argumentsDigest: string;
}

export function openJournal(runId: RunId, program: Program, seed: string, startedAtMs: number): Journal {
  const { source, language, modules, limits, script, body, engine } = program;
  return {
    runId,
    source,
    language,
    modules,
    limits,
    blocking: program.blocking === true || script !== undefined,
    ...omitUndefined({ script, body }),
    seed,
    startedAtMs,
    clock: 'moving',
    ...omitUndefined({ engine }),
    deliveries: [],
    calls: [],
  };
}

/** The engine that has the program: recovery, resuming and replay follow it. */
export function engineOf({ deliveries }: Pick<Journal, 'deliveries'>): EngineName {
  for (let index = deliveries.length - 1; index >= 0; index--) {
    const each = deliveries[index] as Delivery;
    if (each.kind === 'engine') return each.engine;
  }
  return 'quickjs';
}

/** How the clock was read after the first `from` entries; null if it does not move. */
export function clockRecordOf({ clock, deliveries }: Journal, from = 0): ClockRecord | null {
  if (clock === undefined) return null;
  const entries = deliveries.slice(from).filter((each) => each.kind === 'clock');
  return { reads: entries.at(-1)?.reads ?? 0, ticks: entries.flatMap(({ ticks }) => ticks) };
}

/** The seed of a program's random numbers. */
export function newSeed(): string {
  return takeRandom(8).readBigUInt64LE().toString();
}

export function digestOf(bytes: string | Uint8Array): string {
  // One call into the library: half the cost of a hash object for the few hundred bytes of a call's arguments.
  return hash('sha256', bytes, 'hex');
}

/** A journal as JSON: bodies in base64, everything else unchanged. */
export function encodeJournal(journal: Journal): string {
  return JSON.stringify(plainJournal(journal));
}

/** The plain object that is encoded as JSON. */
export function plainJournal({ runId, ...journal }: Journal): PlainJournal {
  return { execution: runId, ...journal, deliveries: journal.deliveries.map(plainDelivery) };
}

export function encodeDelivery(delivery: Delivery): string {
  return JSON.stringify(plainDelivery(delivery));
}

export function decodeDelivery(json: string): Delivery {
  return readDelivery(JSON.parse(json) as PlainDelivery);
}

/** Reads the output of `encodeJournal`. The source must be trusted: see `sealing.ts`. */
export function decodeJournal(json: string): Journal {
  const { execution, ...raw } = JSON.parse(json) as PlainJournal;
  return { runId: execution, ...raw, deliveries: raw.deliveries.map(readDelivery) };
}

/** Recordings and suspended runs of every version name the run `execution`. */
type PlainJournal = Omit<Journal, 'deliveries' | 'runId'> & { execution: RunId; deliveries: PlainDelivery[] };
type PlainDelivery = Omit<Delivery, 'body'> & { body?: string };

function plainDelivery(delivery: Delivery): PlainDelivery {
  return 'body' in delivery ? { ...delivery, body: Buffer.from(delivery.body).toString('base64') } : delivery;
}

function readDelivery(plain: PlainDelivery): Delivery {
  return (plain.body === undefined ? plain : { ...plain, body: Buffer.from(plain.body, 'base64') }) as Delivery;
}
