import type { RunItem } from '../../../domain/console/runs.js';
import { isJsonObject, type JsonValue } from '../../../domain/json.js';
import { isOwnCaller } from '../../../domain/own-callers.js';
import type { LogEntry } from '../../../domain/run.js';
import { ifDefined, omitUndefined } from '../../../lib/omit-undefined.js';
import type { StoredState } from '../../../store/runs.js';
import type { RunView } from '../../runs/run-view.js';
import { BYTES_PER_TOKEN } from './usage.js';

export const ENDED: readonly StoredState[] = ['succeeded', 'failed', 'cancelled'];
const MAX_LOGS = 5_000;

/** An in-flight run of any process. */
export interface RunInFlight extends Pick<RunItem, 'runId' | 'caller' | 'profile'> {
  readonly title: string;
  readonly createdAtMs: number;
}

export function liveItem(run: RunInFlight, pendingApprovals: number): RunItem {
  const { runId, caller, profile, title, createdAtMs } = run;
  const times = { createdAtMs, updatedAtMs: createdAtMs };
  return { runId, state: 'running', caller, profile, title, ...times, pendingApprovals, ...ownMark(caller) };
}

export function storedItem(view: RunView): RunItem {
  const { runId, state, caller, profile, title, createdAtMs, updatedAtMs, durationMs, approvals, figures } = view;
  return {
    ...{ runId, state, caller, profile, createdAtMs, updatedAtMs },
    ...omitUndefined({ title, durationMs, toolCalls: figures?.calls, savedTokens: ifDefined(figures, savedTokens) }),
    pendingApprovals: ENDED.includes(state as StoredState)
      ? 0
      : approvals.filter((approval) => approval.state === 'PENDING').length,
    ...ownMark(caller),
  };
}

function savedTokens({ toolBytes, responseBytes }: NonNullable<RunView['figures']>): number {
  return Math.round((toolBytes - responseBytes) / BYTES_PER_TOKEN);
}

function ownMark(caller: string): Pick<RunItem, 'isOwn'> {
  return isOwnCaller(caller) ? { isOwn: true } : {};
}

/** Whether a search for this text matches the run. */
export function hasText({ runId, title = '', caller }: RunItem, text: string | undefined): boolean {
  if (text === undefined || text === '') return true;
  const wanted = text.toLowerCase();
  return [runId, title, caller].some((each) => each.toLowerCase().includes(wanted));
}

/** Every contract that has logs in its response has them as a list of messages with levels. */
export function logsIn(response: JsonValue): LogEntry[] {
  const logs = isJsonObject(response) ? response.logs : undefined;
  if (!Array.isArray(logs)) return [];
  return logs.slice(0, MAX_LOGS).flatMap((entry): LogEntry[] => {
    if (!isJsonObject(entry) || typeof entry.message !== 'string') return [];
    const { level, message, timeMs, timestamp } = entry;
    const time = [timeMs, timestamp].find((each) => typeof each === 'number') as number | undefined;
    return [{ level: (typeof level === 'string' ? level : 'log') as LogEntry['level'], message, timeMs: time ?? 0 }];
  });
}

const MAX_PROBLEM_CHARACTERS = 240;

/** The first line of the reason why a run failed. Contracts have it as a diagnostic, as an error with a message, or as text. */
export function problemIn(response: JsonValue): string | undefined {
  if (!isJsonObject(response)) return undefined;
  const { diagnostics, error } = response;
  const errors = Array.isArray(diagnostics) ? diagnostics.filter(isJsonObject) : [];
  const message = [errors.find(({ severity }) => severity === 'error'), error]
    .map((each) => (isJsonObject(each) ? each.message : each))
    .find((each) => typeof each === 'string');
  return typeof message === 'string' ? message.split('\n', 1)[0]?.slice(0, MAX_PROBLEM_CHARACTERS) : undefined;
}
