import type { Approval } from '../../domain/approval.js';
import type { JsonValue } from '../../domain/json.js';
import type { RunState } from '../../domain/run.js';
import type { StoredRun } from '../../store/runs.js';

/** A run as it is shown to people. */
export interface RunView {
  readonly runId: string;
  readonly state: Exclude<RunState, 'queued'>;
  readonly caller: string;
  readonly profile: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** A line of its program; undefined if none was stored. */
  readonly title: string | undefined;
  /** Undefined until it has ended. */
  readonly durationMs: number | undefined;
  readonly figures?: StoredRun['figures'];
  readonly response: JsonValue;
  readonly approvals: readonly Approval[];
}

/** A run that a host holds while an upstream asks a person is stored as suspended. */
export function shownState({ state, isHeld }: StoredRun): RunView['state'] {
  return isHeld && state === 'suspended' ? 'running' : state;
}
