import { HostError } from '../../domain/errors.js';
import { DEFAULT_LIMITS } from '../../domain/limits.js';
import { type FinishedSpan, SPANS } from '../../domain/trace.js';
import { isEnded, type RunSummary } from '../runs/run-types.js';
import type { Session } from '../session.js';
import { type Percentiles, percentiles } from './measure.js';

/** The overhead of running a program, in milliseconds. */
export interface OverheadReport {
  /** The runtime that ran the programs. */
  readonly runtime: string;
  readonly runs: number;
  /** A fresh sandbox: from the request to the answer of a program that does nothing. */
  readonly run: Percentiles;
  /** One call through the broker to a server on this machine and back. */
  readonly call: Percentiles;
  /** The broker's part of a call: checks, policy, limits, audit record. */
  readonly broker: Percentiles;
}

/** From a server's change to the new catalog, in milliseconds. */
export interface DriftReport {
  readonly changes: number;
  readonly detection: Percentiles;
}

const RUNS = 50;
const CHANGES = 10;
const CHANGE_TIMEOUT_MS = 10_000;
/** One run produces a few spans. */
const MAX_SPANS = 10_000;

/**
 * Runs programs one after the other and reads their traces. The session must have the tools of `examples/servers/changing.mjs`, and
 * its spans must go to `spans`.
 */
export async function measureOverhead(
  spans: SpanRecord,
  { runtime, runs, nothing, oneCall }: MeasuredPrograms,
): Promise<OverheadReport> {
  await nothing(); // the first run loads what later runs reuse
  await oneCall();
  const empty: number[] = [];
  const call: number[] = [];
  const broker: number[] = [];
  // Alternating, so that other load on the machine affects both equally.
  for (let index = 0; index < runs; index++) {
    empty.push((await traced(nothing, spans)).lasted(SPANS.run));
    const { lasted } = await traced(oneCall, spans);
    // Measured by its own span: the start times of two processes differ by more than a call takes.
    call.push(lasted('execute_tool ping'));
    broker.push(lasted('execute_tool ping') - lasted('tools/call ping'));
  }
  return {
    ...{ runtime, runs },
    run: percentiles(empty),
    call: percentiles(call),
    broker: percentiles(broker),
  };
}

/** Programs for the profile's runtime: one that does nothing, and one that makes one tool call. */
export interface MeasuredPrograms {
  readonly runtime: string;
  readonly runs: number;
  readonly nothing: () => Promise<unknown>;
  readonly oneCall: () => Promise<unknown>;
}

/** Modules on the engine of the default profile. */
export function modulePrograms(session: Session): MeasuredPrograms {
  return {
    ...{ runtime: 'quickjs', runs: RUNS },
    nothing: () => run(session, NOTHING),
    oneCall: () => run(session, ONE_CALL),
  };
}

/** Collects finished spans. */
export class SpanRecord {
  #spans: FinishedSpan[] = [];

  readonly add = (span: FinishedSpan): void => {
    if (this.#spans.length < MAX_SPANS) this.#spans.push(span);
  };

  /** All spans since the last call. */
  take(): readonly FinishedSpan[] {
    const taken = this.#spans;
    this.#spans = [];
    return taken;
  }
}

/** Lets the server change its tools and send `tools/list_changed`, and waits until the catalog has the new ones. */
export async function measureDrift(session: Session): Promise<DriftReport> {
  const times: number[] = [];
  for (let index = 0; index < CHANGES; index++) {
    let seenAtMs = Number.NaN;
    const before = toolCount(session);
    const seen = new Promise<void>((resolve, reject) => {
      const stop = session.onToolsChanged(() => {
        if (toolCount(session) === before) return;
        seenAtMs = performance.timeOrigin + performance.now();
        done();
        resolve();
      });
      const timer = setTimeout(() => {
        done();
        reject(new HostError('internal', `the change was not noticed within ${CHANGE_TIMEOUT_MS / 1_000} s`));
      }, CHANGE_TIMEOUT_MS);
      const done = () => {
        clearTimeout(timer);
        stop();
      };
    });
    const [summary] = await Promise.all([run(session, ONE_CHANGE), seen]);
    const changedAtMs =
      summary.outcome.status === 'completed' ? Number(JSON.parse(summary.outcome.resultJson)) : Number.NaN;
    times.push(Math.max(0, seenAtMs - changedAtMs));
  }
  return { changes: CHANGES, detection: percentiles(times) };
}

const NOTHING = 'globalThis.__codemode_result__ = 1;';
const ONE_CALL = `import { ping } from '@codemode/servers/changing';
globalThis.__codemode_result__ = await ping();`;
const ONE_CHANGE = `import { add_tool } from '@codemode/servers/changing';
globalThis.__codemode_result__ = (await add_tool()).changedAtMs;`;

/** The duration of each step of a run, in milliseconds. */
async function traced(program: () => Promise<unknown>, spans: SpanRecord) {
  spans.take();
  await program();
  const steps = spans.take();
  return {
    lasted: (name: string): number => {
      const step = steps.find((span) => span.name === name);
      if (step === undefined) throw new HostError('internal', `the trace of the measured program has no ${name}`);
      return step.durationMs;
    },
  };
}

async function run(session: Session, source: string): Promise<RunSummary> {
  const answer = await session.run({ source, language: 'typescript', limits: DEFAULT_LIMITS });
  if (!isEnded(answer)) throw new HostError('internal', 'the measured program did not end');
  const { outcome } = answer.summary;
  if (outcome.status === 'failed')
    throw new HostError('internal', `the measured program failed: ${outcome.failure.message}`);
  return answer.summary;
}

function toolCount(session: Session): number {
  return session.tools().forCode.servers.reduce((count, { tools }) => count + tools.length, 0);
}
