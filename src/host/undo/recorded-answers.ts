import type { PolicyGate } from '../../broker/policy/gate.js';
import { RunLedger } from '../../broker/run-ledger.js';
import type { CatalogSnapshot } from '../../catalog/snapshot.js';
import { isJsonObject, type JsonValue } from '../../domain/json.js';
import { type RecordedTool, recordedTool } from '../recordings/recorded-tool.js';
import type { AnyRecording, Recording } from '../recordings/recording.js';
import type { NestedScript } from '../recordings/run-notes.js';
import { isResults } from '../runs/kept-results.js';
import { findServer } from '../tools/discovery.js';

/** A tool call of an ended run, in the order in which calls were made. */
export interface RecordedAnswer extends RecordedTool {
  readonly call: number;
  /** As the program got it; absent if the call failed or its outcome is unknown. */
  readonly result?: JsonValue;
  readonly outcome: 'answered' | 'failed' | 'unknown';
}

/** Every tool call of a run. The calls of a stored script follow the call that ran it. */
export function recordedAnswers(recording: AnyRecording): readonly RecordedAnswer[] {
  return 'journal' in recording ? ofSandbox(recording) : ofProcess(recording);
}

/**
 * The data a run had received when it ended: from its calls, and from results that it loaded from earlier runs. A server that no
 * longer exists may have sent anything.
 */
export function ledgerOf(
  recording: AnyRecording,
  answers: readonly RecordedAnswer[],
  snapshot: CatalogSnapshot,
  gate: Pick<PolicyGate, 'received' | 'receivedUnknown'>,
): RunLedger {
  const ledger = new RunLedger();
  for (const { server } of answers) {
    const found = findServer(server, snapshot);
    if (found === undefined) gate.receivedUnknown(ledger);
    else gate.received(found.id, ledger);
  }
  if (recording.calls.some(({ target }) => isResults(target))) gate.receivedUnknown(ledger);
  return ledger;
}

function ofProcess({ calls, notes }: Exclude<AnyRecording, Recording>): RecordedAnswer[] {
  const scripts = notes?.scripts ?? [];
  return calls.flatMap((call): RecordedAnswer[] => {
    // The call ran a stored script: what it did is what the script did.
    if (scripts.some(({ byCall }) => byCall === call.number)) return nestedAnswers(scripts, call.number);
    const named = recordedTool(call, false);
    if (named === undefined) return [];
    const { reply, number } = call;
    if (reply === undefined) return [{ ...named, call: number, outcome: call.isSent === true ? 'unknown' : 'failed' }];
    if (!reply.ok) return [{ ...named, call: number, outcome: 'failed' }];
    return [{ ...named, call: number, outcome: 'answered', result: plainResult(JSON.parse(String(reply.json))) }];
  });
}

function ofSandbox({ journal, calls, notes }: Recording): RecordedAnswer[] {
  const isClassic = journal.script !== undefined;
  const answers = new Map(
    journal.deliveries.flatMap((each) =>
      each.kind === 'result' || each.kind === 'error' ? [[each.call as number, each] as const] : [],
    ),
  );
  const scripts = notes?.scripts ?? [];
  return calls.flatMap((call): RecordedAnswer[] => {
    const nested = nestedAnswers(scripts, call.number);
    const named = recordedTool(call, isClassic);
    if (named === undefined || call.toolDigest === undefined) return nested;
    const answer = answers.get(call.number);
    const base = { ...named, call: call.number };
    if (answer === undefined) return [{ ...base, outcome: 'unknown' }, ...nested];
    if (answer.kind === 'error') return [{ ...base, outcome: 'failed' }, ...nested];
    const value = JSON.parse(Buffer.from(answer.body).toString('utf8')) as JsonValue;
    return [
      isClassic ? { ...base, ...classicResult(value) } : { ...base, outcome: 'answered', result: value },
      ...nested,
    ];
  });
}

function nestedAnswers(scripts: readonly NestedScript[], byCall: number): RecordedAnswer[] {
  return scripts
    .filter((script) => script.byCall === byCall)
    .flatMap(({ calls }) =>
      calls.flatMap((call): RecordedAnswer[] => {
        // A module's call has its tool in the target. Each script writes calls as its own contract prescribes.
        const isClassic = !call.target.includes('/');
        const inner = nestedAnswers(scripts, call.number);
        const named = recordedTool(call, isClassic);
        if (named === undefined) return inner;
        const { answer } = call;
        const base = { ...named, call: call.number };
        if (answer === undefined) return [{ ...base, outcome: 'unknown' }, ...inner];
        if (!answer.ok) return [{ ...base, outcome: 'failed' }, ...inner];
        const value = JSON.parse(answer.json) as JsonValue;
        return [
          isClassic ? { ...base, ...classicResult(value) } : { ...base, outcome: 'answered', result: value },
          ...inner,
        ];
      }),
    );
}

/** A classic script gets an envelope, also for an error. */
function classicResult(value: JsonValue): Pick<RecordedAnswer, 'outcome' | 'result'> {
  if (!isJsonObject(value) || value.ok !== true) return { outcome: 'failed' };
  return { outcome: 'answered', result: value.result ?? null };
}

/** Some contracts give a program the whole MCP result. */
function plainResult(value: JsonValue): JsonValue {
  return isJsonObject(value) && value.structuredContent !== undefined ? (value.structuredContent as JsonValue) : value;
}
