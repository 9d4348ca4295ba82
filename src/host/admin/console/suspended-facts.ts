import type { RunDetail } from '../../../domain/console/runs.js';
import { isJsonObject } from '../../../domain/json.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import type { RecordedCall } from '../../recordings/recorded-call.js';
import type { RunNotes } from '../../recordings/run-notes.js';
import type { SuspendedRuns } from '../../runs/suspended-runs.js';
import type { RecordedFacts } from './recorded-run.js';

/** The program and calls stored with a suspended run, or with a run that was cancelled while suspended. */
export async function suspendedFacts(
  suspended: Pick<SuspendedRuns, 'contextOf'>,
  runId: string,
): Promise<Partial<RecordedFacts> | undefined> {
  const stored = await suspended.contextOf(runId);
  if (stored === undefined || !isJsonObject(stored.context)) return undefined;
  const { facts, recorded, soFar, nested } = stored.context as unknown as {
    facts?: { context?: { source?: string; codeDigest?: string }; limits?: RunDetail['limits'] };
    recorded?: readonly RecordedCall[];
    soFar?: Pick<RunNotes, 'retries'>;
    nested?: Pick<RunNotes, 'scripts'>;
  };
  const { source, codeDigest = '' } = facts?.context ?? {};
  const before = Array.isArray(recorded) ? recorded : [];
  const since = stored.calls.filter(({ number }) => !before.some((call) => call.number === number));
  return {
    ...(typeof source === 'string' ? { program: { source, language: 'typescript', codeDigest } } : {}),
    ...omitUndefined({ limits: facts?.limits }),
    calls: [...before, ...since],
    notes: { scripts: nested?.scripts ?? [], retries: soFar?.retries ?? [] },
  };
}
