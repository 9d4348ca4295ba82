import { ENGINE_CHOICES, type EngineChoice } from '../../domain/engine.js';
import { HostError } from '../../domain/errors.js';
import type { Limits, RequestedLimits } from '../../domain/limits.js';
import type { LogEntry, SourceLanguage } from '../../domain/run.js';
import { readTraceContext, type TraceCarrier } from '../../domain/trace.js';
import type { RunAnswer } from '../../host/runs/run-types.js';
import type { Session } from '../../host/session.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import {
  type RunResponse,
  renderResponse,
  renderStillRunning,
  renderSuspended,
} from '../../profiles/codemode/render.js';

/** How one program is run. Limits that are absent come from the configuration. */
export interface RunOptions extends Partial<RequestedLimits> {
  /** TypeScript by default. */
  readonly language?: SourceLanguage;
  /** The engine. Absent: as configured (`sandbox.engine`). */
  readonly engine?: EngineChoice;
  /** Servers that the program will use. They are connected first, and a missing one is reported at once. */
  readonly servers?: readonly string[];
  /** Cancels the program. */
  readonly signal?: AbortSignal;
  /** Called for each log entry as the program writes it. */
  readonly onLog?: (entry: LogEntry) => void;
  readonly onProgress?: (message: string) => void;
  /** The trace that the run belongs to: `propagation.inject(context.active(), carrier)` of OpenTelemetry makes one. */
  readonly trace?: TraceCarrier;
}

/** The result of a program, with the fields that an agent gets too: `result`, `logs`, `diagnostics`, `toolTrace`. */
export interface RunResult extends RunResponse {
  /** Whether it ended. */
  readonly ok: boolean;
  /** `suspended`: the run is in the store until a person has decided about a call. */
  readonly state: RunAnswer['state'];
  readonly runId: string;
  /** Everything the host knows about the run. */
  readonly answer: RunAnswer;
}

interface Parsed {
  readonly limits: Limits;
  readonly requestedCapabilities: readonly string[];
}

export async function runIn(
  session: Session,
  {
    code,
    language = 'typescript',
    servers = [],
    engine,
    signal,
    onLog,
    onProgress,
    trace: carrier,
    ...given
  }: RunOptions & { readonly code: string },
  parseRequest: (request: unknown) => Parsed,
): Promise<RunResult> {
  const { limits, requestedCapabilities } = parseRequest({ code, limits: given, requestedCapabilities: servers });
  const trace = readTraceContext(carrier);
  const answer = await session.run({
    source: code,
    language,
    limits,
    requestedServers: requestedCapabilities,
    ...omitUndefined({ engine: ifDefined(engine, engineIn), signal, onProgress, trace }),
    ...(onLog === undefined ? {} : { onLog: (entry) => onLog(entry) }),
  });
  return resultOf(answer);
}

/** Callers without TypeScript may pass any value. */
function engineIn(given: unknown): EngineChoice {
  const choice = ENGINE_CHOICES.find((each) => each === given);
  if (choice !== undefined) return choice;
  throw new HostError(
    'bad_input',
    `engine must be one of ${ENGINE_CHOICES.join(', ')}; leave it out to use the configured one`,
  );
}

function resultOf(answer: RunAnswer): RunResult {
  switch (answer.state) {
    case 'succeeded':
    case 'failed':
    case 'cancelled': {
      const { summary } = answer;
      const ok = summary.outcome.status === 'completed';
      return { ...renderResponse(summary), ok, state: answer.state, runId: summary.runId, answer };
    }
    case 'suspended':
      return { ...renderSuspended(answer.summary), ok: false, state: 'suspended', runId: answer.summary.runId, answer };
    case 'running':
      return { ...renderStillRunning(answer.runId), ok: false, state: 'running', runId: answer.runId, answer };
  }
}
