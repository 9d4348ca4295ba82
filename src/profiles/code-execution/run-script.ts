import type { Log, LogIds } from '../../domain/log.js';
import type { LogEntry, Outcome } from '../../domain/run.js';
import { CLASSIC_CALLS } from '../../domain/script.js';
import { type EndedScriptCall, isEnded } from '../../host/runs/run-types.js';
import type { Session } from '../../host/session.js';
import { visibleLine, visibleSentence } from '../../lib/text/visible-text.js';
import { lostInResult } from '../lost-values.js';
import type { CallContext } from '../profile.js';
import { patternsHint, runNotes } from '../run-notes.js';
import type { SignaturesAfterFailure, WrittenNames } from '../signatures-after-failure.js';
import { warningLine } from '../warning.js';
import type { ScriptRun } from './contract.js';
import { renderScript, type ScriptResponse } from './render.js';

/** Runs a script until it ends. Only the host's own failures are thrown. */
export async function runScript(
  session: Session,
  { code, language, input, limits, allowedServers }: ScriptRun,
  { log, ...context }: CallContext,
  told?: SignaturesAfterFailure,
): Promise<ScriptResponse> {
  const traceId = context.trace?.traceId;
  const answer = await session.run({
    source: code,
    language,
    limits,
    script: {
      ...{ input, callTool: CLASSIC_CALLS.tool, callScript: CLASSIC_CALLS.script, allowedServers },
      ...(log === undefined ? {} : { onCall: (ended) => logCall(log, ended, { traceId }) }),
    },
    ...context,
    ...(log === undefined ? {} : { onLog: (entry, runId) => logEntry(log, entry, { runId, traceId }) }),
  });
  // A script cannot continue without its client and cannot be suspended: its calls block it.
  if (!isEnded(answer)) throw new Error(`a script is ${answer.state}`);
  const { summary } = answer;
  const { runId } = summary;
  if (summary.logsCut) log?.(`its output was cut after ${limits.maxLogBytes} bytes`, 'warn', { runId, traceId });
  const types = told?.linesFor(session, summary.outcome, summary.trace, OWN_NAMES) ?? [];
  for (const note of [...unsaid(summary.outcome), ...runNotes(summary, patternsHint), ...types])
    context.onNotice?.(note);
  return renderScript(summary);
}

/** Scripts call tools by the servers' own names for them. */
const OWN_NAMES: WrittenNames = { server: ({ server }) => server.id, tool: ({ tool }) => tool.name };

/** Notes without a place in the contract's messages: what to write instead, and where the value is not JSON. */
function unsaid(outcome: Outcome): string[] {
  const lost = lostInResult(outcome);
  if (lost !== undefined) {
    const line = lost.isUsual ? `info: ${lost.message}` : warningLine(lost);
    return [line.replace('`result`', '`value`')];
  }
  if (outcome.status === 'completed') return [];
  const { kind, message, hint } = outcome.failure;
  if (kind === 'exception') return hint === undefined || message.includes(hint) ? [] : [hint];
  return kind === 'not_serializable' && !message.includes('has no value')
    ? [`${message}. ${hint ?? ''}`.trimEnd()]
    : [];
}

/** Logs names and times only: inputs and answers may contain anything. */
function logCall(log: Log, { server, tool, durationMs, error }: EndedScriptCall, ids: LogIds): void {
  const end = error === undefined ? 'succeeded' : `failed: ${visibleSentence(error)}`;
  log(`call of ${visibleLine(`${server}/${tool}`)} took ${Math.round(durationMs)} ms and ${end}`, 'debug', ids);
}

/** The contract sends console output to the host's log. */
function logEntry(log: Log, { level, message }: LogEntry, ids: LogIds): void {
  log(message, level === 'log' ? 'info' : level, ids);
}
