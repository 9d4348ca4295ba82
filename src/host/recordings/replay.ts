import type { Broker } from '../../broker/broker.js';
import type { Redactor } from '../../broker/redaction/redactor.js';
import { openRunContext } from '../../broker/run-context.js';
import type { CatalogSnapshot } from '../../catalog/snapshot.js';
import type { JsonValue } from '../../domain/json.js';
import type { CallerId, CallReply, Outcome } from '../../domain/run.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { canonicalJson } from '../../lib/text/canonical-json.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import { redactReport } from '../runs/redact-report.js';
import type { Presentation } from '../runs/run-types.js';
import type { RecordedCall } from './recorded-call.js';
import type { Recording } from './recording.js';

/** How a replayed program compares with its record. */
export interface ReplayReport {
  readonly runId: string;
  readonly isSame: boolean;
  /** Where the replay first diverged, or how its outcome differs. */
  readonly difference?: string;
  readonly outcome: Outcome;
}

/** The outcome of one recorded call when repeated today. */
export interface LiveComparison {
  readonly call: number;
  readonly tool: string;
  readonly state: 'same' | 'different' | 'gone' | 'changed' | 'skipped' | 'failed';
  readonly detail?: string;
}

/** Replays a recorded program offline: every request is answered from the record. */
export async function replay(sandbox: Sandbox, recording: Recording, redactor?: Redactor): Promise<ReplayReport> {
  const { runId, journal, outcome: recorded } = recording;
  const { report: raw, divergence } = await sandbox.replay(journal, `replay of ${runId}` as CallerId);
  // The record is redacted, so the new outcome must be too.
  const report = redactor === undefined ? raw : await redactReport(redactor, raw, {});
  const difference = divergence ?? differenceOf(recorded, report.outcome);
  return {
    runId,
    isSame: difference === undefined,
    ...omitUndefined({ difference }),
    outcome: report.outcome,
  };
}

/**
 * Repeats the recorded calls of read-only tools against the current servers and compares the answers. A recording may be an
 * untrusted file: tools and arguments are taken from it, but never the caller or the contract.
 */
export async function compareLive(
  recording: Recording,
  { broker, snapshot, presentation, digestOf, caller, profile }: LiveParts,
): Promise<LiveComparison[]> {
  const run = openRunContext(`replay-${recording.runId}`, caller, profile, '');
  const compared: LiveComparison[] = [];
  for (const recordedCall of recording.calls) {
    const { number, target, argumentsJson, toolDigest } = recordedCall;
    if (toolDigest === undefined) continue;
    const base = { call: number, tool: target };
    if (recording.journal.script !== undefined) {
      compared.push({ ...base, state: 'skipped', detail: 'calls of scripts are not compared' });
      continue;
    }
    const found = snapshot.toolByTarget.get(target);
    if (found === undefined) {
      compared.push({ ...base, state: 'gone', detail: 'there is no such tool any more' });
      continue;
    }
    const drift = digestOf(target) === toolDigest ? undefined : 'its description or schema has changed';
    if (found.tool.annotations?.readOnlyHint !== true) {
      const detail = drift ?? 'not called: its server does not say that it only reads';
      compared.push({ ...base, state: drift === undefined ? 'skipped' : 'changed', detail });
      continue;
    }
    const [input] = JSON.parse(argumentsJson) as JsonValue[];
    const outcome = await broker.handle({
      run,
      number,
      tool: found.tool,
      serverPath: found.server.path,
      exportName: found.exportName,
      input,
      signal: AbortSignal.timeout(LIVE_CALL_MS),
      asksNobody: true,
    });
    compared.push({ ...base, ...compare(recording, recordedCall, presentation.reply(outcome), drift) });
  }
  return compared;
}

export interface LiveParts {
  /** The caller that replays. */
  readonly caller: CallerId;
  readonly profile: string;
  readonly broker: Broker;
  readonly snapshot: CatalogSnapshot;
  readonly presentation: Presentation;
  /** Digest of a tool's current definition. */
  readonly digestOf: (target: string) => string | undefined;
}

const LIVE_CALL_MS = 60_000;

function compare(
  { journal }: Recording,
  { number }: RecordedCall,
  reply: CallReply,
  drift: string | undefined,
): Pick<LiveComparison, 'state' | 'detail'> {
  const then = journal.deliveries.find((each) => 'call' in each && each.call === number);
  if (!reply.ok) return { state: 'failed', detail: ('ends' in reply ? reply.ends : reply.error).message };
  if (then === undefined || !('body' in then)) return { state: 'skipped', detail: 'it was never answered then' };
  const now = JSON.parse(Buffer.from(reply.json).toString('utf8')) as JsonValue;
  const before = JSON.parse(Buffer.from(then.body).toString('utf8')) as JsonValue;
  const isSame = then.kind === 'result' && canonicalJson(now) === canonicalJson(before);
  if (isSame) return drift === undefined ? { state: 'same' } : { state: 'changed', detail: drift };
  const where = then.kind === 'error' ? 'it failed then' : placeOfDifference(before, now);
  return { state: 'different', detail: drift === undefined ? where : `${where}; ${drift}` };
}

/** How the outcomes of two runs of a program differ, if they do. */
export function differenceOf(recorded: Outcome, again: Outcome): string | undefined {
  if (recorded.status !== again.status) return `it ${word(recorded)} then and ${word(again)} now`;
  if (recorded.status === 'completed' && again.status === 'completed') {
    if (recorded.resultJson === again.resultJson) return undefined;
    const place = placeOfDifference(JSON.parse(recorded.resultJson), JSON.parse(again.resultJson));
    return `its result differs: ${place}`;
  }
  if (recorded.status === 'failed' && again.status === 'failed' && recorded.failure.message !== again.failure.message)
    return `it failed with another message: ${again.failure.message}`;
  return undefined;
}

function word({ status }: Outcome): string {
  return status === 'completed' ? 'succeeded' : 'failed';
}

/** The path of the first difference between two values. */
export function placeOfDifference(before: JsonValue, now: JsonValue, path = '$'): string {
  const isTree = (value: JsonValue): value is JsonValue[] | { [key: string]: JsonValue } =>
    value !== null && typeof value === 'object';
  if (!isTree(before) || !isTree(now) || Array.isArray(before) !== Array.isArray(now))
    return `at ${path} it was ${shortly(before)}, now ${shortly(now)}`;
  const left = before as Record<string, JsonValue>;
  const right = now as Record<string, JsonValue>;
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const inner = Array.isArray(before) ? `${path}[${key}]` : `${path}.${key}`;
    if (!Object.hasOwn(right, key)) return `${inner} is missing now`;
    if (!Object.hasOwn(left, key)) return `${inner} is new`;
    if (canonicalJson(left[key]) !== canonicalJson(right[key]))
      return placeOfDifference(left[key] as JsonValue, right[key] as JsonValue, inner);
  }
  return `at ${path} only the order of keys differs`;
}

const MAX_SHOWN_CHARACTERS = 60;

function shortly(value: JsonValue): string {
  const json = JSON.stringify(value);
  return json.length > MAX_SHOWN_CHARACTERS ? `${json.slice(0, MAX_SHOWN_CHARACTERS)}...` : json;
}
