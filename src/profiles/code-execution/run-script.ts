import type { LogEntry } from '../../domain/execution.js';
import type { Log, LogIds } from '../../domain/log.js';
import type { EndedScriptCall } from '../../host/run.js';
import type { Session } from '../../host/session.js';
import { visibleLine, visibleSentence } from '../../lib/visible-text.js';
import type { CallCircumstances } from '../profile.js';
import type { ScriptRun } from './contract.js';
import { renderScript, type ScriptResponse } from './render.js';

const CALL_TOOL = 'call_tool';
const CALL_SCRIPT = 'call_script';

/** Runs a script to its end. Only the host's own failures are thrown. */
export async function runScript(
  session: Session,
  { code, language, input, limits, allowedServers }: ScriptRun,
  { log, ...circumstances }: CallCircumstances,
): Promise<ScriptResponse> {
  const traceId = circumstances.trace?.traceId;
  const answer = await session.run({
    source: code,
    language,
    limits,
    script: {
      ...{ input, callTool: CALL_TOOL, callScript: CALL_SCRIPT, allowedServers },
      ...(log === undefined ? {} : { onCall: (ended) => logCall(log, ended, { traceId }) }),
    },
    ...circumstances,
    ...(log === undefined ? {} : { onLog: (entry, runId) => logEntry(log, entry, { runId, traceId }) }),
  });
  // Neither goes on without its client nor sleeps: its calls block it.
  if (answer.state !== 'finished') throw new Error(`a script is ${answer.state}`);
  const { summary } = answer;
  const { runId } = summary;
  if (summary.logsCut) log?.(`its output was cut after ${limits.maxLogBytes} bytes`, 'warn', { runId, traceId });
  return renderScript(summary);
}

/** Names and times only: what is sent and answered may be anything. */
function logCall(log: Log, { server, tool, durationMs, error }: EndedScriptCall, ids: LogIds): void {
  const end = error === undefined ? 'succeeded' : `failed: ${visibleSentence(error)}`;
  log(`call of ${visibleLine(`${server}/${tool}`)} took ${Math.round(durationMs)} ms and ${end}`, 'debug', ids);
}

/** The contract sends console output to the host's log. */
function logEntry(log: Log, { level, message }: LogEntry, ids: LogIds): void {
  log(message, level === 'log' ? 'info' : level, ids);
}
