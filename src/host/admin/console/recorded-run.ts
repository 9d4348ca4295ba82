import type { DeliveryView, RunDetail } from '../../../domain/console/runs.js';
import type { JsonObject, JsonValue } from '../../../domain/json.js';
import type { Outcome } from '../../../domain/run.js';
import { ifDefined, omitUndefined } from '../../../lib/omit-undefined.js';
import { type Delivery, engineOf } from '../../../sandbox/journal/journal.js';
import type { RecordedCall } from '../../recordings/recorded-call.js';
import type { AnyRecording } from '../../recordings/recording.js';
import type { RunNotes } from '../../recordings/run-notes.js';
import { cutText, cutValue } from './cut-value.js';

const RESULT_CHARACTERS = 512 * 1024;
const PREVIEW_CHARACTERS = 400;
const MESSAGE_CHARACTERS = 20_000;

/** What a recording contains about a run. */
export interface RecordedFacts extends Pick<RunDetail, 'program' | 'engine' | 'limits' | 'outcome'> {
  readonly calls: readonly RecordedCall[];
  readonly deliveries: readonly Delivery[];
  readonly startedAtMs: number | undefined;
  readonly notes: RunNotes;
}

export function factsOf(recording: AnyRecording): RecordedFacts {
  const { codeDigest, calls, environment, notes = {} } = recording;
  const engine = { build: environment.build, node: environment.node, isolation: environment.isolation };
  if ('program' in recording) {
    const { source, language, limits } = recording.program;
    return {
      program: { source, language, codeDigest },
      engine: { name: recording.environment.interpreter ?? language, ...engine },
      limits: plain(limits),
      outcome: outcomeOf(recording.outcome),
      calls,
      deliveries: [],
      startedAtMs: undefined,
      notes,
    };
  }
  const { source, language, limits, deliveries, startedAtMs } = recording.journal;
  return {
    program: { source, language, codeDigest },
    engine: { name: engineOf(recording.journal), ...engine },
    limits: plain(limits),
    outcome: outcomeOf(recording.outcome),
    ...{ calls, deliveries, startedAtMs, notes },
  };
}

export function outcomeOf(outcome: Outcome): NonNullable<RunDetail['outcome']> {
  if (outcome.status === 'completed') {
    const { value, isCut } = cutValue(outcome.resultJson, RESULT_CHARACTERS);
    return { status: 'completed', result: value, isCut, resultBytes: Buffer.byteLength(outcome.resultJson) };
  }
  const { kind, name, message, hint, position, stack } = outcome.failure;
  return {
    ...{ status: 'failed', kind, name, message: cutText(message, MESSAGE_CHARACTERS) },
    ...omitUndefined({
      hint: ifDefined(hint, (hint) => cutText(hint, MESSAGE_CHARACTERS)),
      position,
      stack: ifDefined(stack, (stack) => cutText(stack, MESSAGE_CHARACTERS)),
    }),
  };
}

export function deliveryView(delivery: Delivery, position: number): DeliveryView {
  const { kind, atMs } = delivery;
  if (!('body' in delivery)) return { position, kind, atMs };
  const { call, body } = delivery;
  const preview = cutText(Buffer.from(body.subarray(0, 4 * PREVIEW_CHARACTERS)).toString('utf8'), PREVIEW_CHARACTERS);
  return { position, kind, atMs, call, preview, bytes: body.byteLength };
}

function plain(limits: object): JsonObject {
  return JSON.parse(JSON.stringify(limits)) as Record<string, JsonValue>;
}
