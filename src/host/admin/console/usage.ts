import type { CallVerdict } from '../../../domain/audit.js';
import type { UsageDay, UsageReport, UsageServer } from '../../../domain/console/usage.js';
import { isOwnCaller, OWN_CALLERS } from '../../../domain/own-callers.js';
import type { SuspendedRuns } from '../../runs/suspended-runs.js';
import type { AuditLog } from '../audit-log.js';
import { percentiles } from '../measure.js';

export interface UsageParts {
  /** Absent if nothing is recorded. */
  readonly audit?: () => Promise<AuditLog>;
  readonly suspended: Pick<SuspendedRuns, 'answersByDay'>;
  /** The tokens a model reads at the start, and the tokens of all definitions. */
  readonly context: () => Promise<UsageReport['context']>;
}

const DAY_MS = 24 * 3_600_000;
/** A rough estimate, applied equally to tool answers and run answers. */
export const BYTES_PER_TOKEN = 4;
const MAX_RECORDS = 200_000;
/** Samples kept for one server's percentiles. */
const MAX_TIMES = 20_000;

const METHOD =
  'How this is counted: a token is 4 bytes of JSON, over runs that have ended. "Direct calls" is everything that tools returned to programs: ' +
  'a model that calls them one by one reads all of it. "Programs" is the whole response of each run; a client can show its model less, ' +
  'because large responses are cut. Retries count once. The tokens before the first program are estimated as codemode measure does.';

interface ServerCount {
  calls: number;
  errors: number;
  resultBytes: number;
  byVerdict: Partial<Record<CallVerdict, number>>;
  times: number[];
}

/** What programs saved and used, from the audit log and the stored answers. */
export async function usageReport({ audit, suspended, context }: UsageParts, days: number): Promise<UsageReport> {
  const sinceMs = Math.floor(Date.now() / DAY_MS - days + 1) * DAY_MS;
  const byDay = new Map<string, { -readonly [Key in keyof UsageDay]: UsageDay[Key] }>();
  const dayOf = (day: string) => {
    const known = byDay.get(day) ?? {
      day,
      runs: 0,
      runCalls: 0,
      calls: 0,
      errors: 0,
      answerTokens: 0,
      readTokens: 0,
      savedTurns: 0,
    };
    byDay.set(day, known);
    return known;
  };
  const servers = new Map<string, ServerCount>();
  let seen = 0;
  let ownCalls = 0;
  for await (const record of (await audit?.())?.each({ sinceMs }) ?? []) {
    if (++seen > MAX_RECORDS) break;
    const { verdict, serverId, resultBytes, durationMs, atMs } = record;
    if (isOwnCaller(record.caller)) {
      ownCalls += verdict === 'sent' ? 0 : 1;
      continue;
    }
    if (
      verdict === 'sent' ||
      verdict === 'decided' ||
      verdict === 'revoked' ||
      verdict === 'output' ||
      verdict === 'pending'
    )
      continue;
    const day = dayOf(new Date(atMs).toISOString().slice(0, 10));
    const server = servers.get(serverId) ?? { calls: 0, errors: 0, resultBytes: 0, byVerdict: {}, times: [] };
    servers.set(serverId, server);
    const isError = verdict !== 'ok' && verdict !== 'cancelled';
    day.calls++;
    server.calls++;
    day.errors += isError ? 1 : 0;
    server.errors += isError ? 1 : 0;
    server.resultBytes += resultBytes ?? 0;
    server.byVerdict[verdict] = (server.byVerdict[verdict] ?? 0) + 1;
    if (server.times.length < MAX_TIMES) server.times.push(durationMs);
  }
  // Both sides of the comparison are of runs that have ended: a suspended run has read its tools' answers, and has not answered yet.
  for (const { day, runs, calls, toolBytes, bytes } of await suspended.answersByDay(sinceMs, OWN_CALLERS)) {
    const known = dayOf(day);
    known.runs = runs;
    known.runCalls = calls;
    known.answerTokens = toolBytes / BYTES_PER_TOKEN;
    known.readTokens = bytes / BYTES_PER_TOKEN;
  }
  return {
    context: await context(),
    method: METHOD,
    days: [...byDay.values()].sort((left, right) => (left.day < right.day ? -1 : 1)).map(rounded),
    servers: [...servers]
      .map(([serverId, count]) => serverOf(serverId, count))
      .sort((left, right) => right.calls - left.calls),
    ownCalls,
    isCut: seen > MAX_RECORDS,
  };
}

function rounded(day: UsageDay): UsageDay {
  const { answerTokens, readTokens, runCalls, runs } = day;
  const savedTurns = Math.max(0, runCalls - runs);
  return { ...day, answerTokens: Math.round(answerTokens), readTokens: Math.round(readTokens), savedTurns };
}

function serverOf(serverId: string, { calls, errors, resultBytes, byVerdict, times }: ServerCount): UsageServer {
  const { p50, p95 } = percentiles(times);
  return { serverId, calls, errors, byVerdict, p50Ms: p50, p95Ms: p95, resultBytes };
}
