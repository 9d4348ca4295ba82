import { randomUUID } from 'node:crypto';
import { HostError } from '../../domain/errors.js';
import { DEFAULT_LIMITS } from '../../domain/limits.js';
import { DEFAULT_PROCESS_LIMITS, type ProcessLanguage, type ProgramLanguage } from '../../domain/process-program.js';
import type { Session } from '../session.js';
import { type Percentiles, percentiles } from './measure.js';
import type { MeasuredPrograms } from './measure-runs.js';

/** The time from request to answer of a program that does nothing, in the profile's runtime. */
export interface RuntimeReport {
  readonly runtime: string;
  readonly runs: number;
  readonly run: Percentiles;
}

const RUNS = 10;

const PROGRAMS: Readonly<Record<ProgramLanguage, string>> = {
  node: 'globalThis.result = 1;',
  python: 'result = 1',
  go: 'return nil',
};

/** A real interpreter, or a compiled program that is cached from the second run on. */
export async function measureProcess(session: Session, language: ProgramLanguage): Promise<RuntimeReport> {
  return { runtime: language, ...(await times(() => runProcess(session, language, PROGRAMS[language], 0))) };
}

/** The programs that measure the cost of a run and of a call on a real interpreter. */
export function processPrograms(session: Session, language: ProcessLanguage): MeasuredPrograms {
  return {
    ...{ runtime: language, runs: RUNS },
    nothing: () => runProcess(session, language, PROGRAMS[language], 0),
    oneCall: () => runProcess(session, language, ONE_CALL[language], 1),
  };
}

const ONE_CALL: Readonly<Record<ProcessLanguage, string>> = {
  node: `import { ping } from './servers/changing/index.js';\nawait ping();\nglobalThis.result = 1;`,
  python: `from servers.changing import ping\nawait ping()\nresult = 1`,
};

async function runProcess(
  session: Session,
  language: ProgramLanguage,
  source: string,
  maxToolCalls: number,
): Promise<void> {
  const { outcome } = await session.runProcess({
    ...{ runId: randomUUID(), createdAtMs: Date.now(), language, source, limits: DEFAULT_PROCESS_LIMITS },
    ...{ maxToolCalls, approvalWaitMs: 0 },
    respond: () => null,
  });
  if (outcome.status === 'failed')
    throw new HostError('internal', `the measured program failed: ${outcome.failure.message}`);
}

/** A classic script, as `code_execution` runs it. */
export async function measureScript(session: Session): Promise<RuntimeReport> {
  const script = { input: {}, callTool: 'call_tool', callScript: 'run_script', allowedServers: [] };
  const once = async () => {
    await session.run({ source: '1', language: 'javascript', limits: DEFAULT_LIMITS, script });
  };
  return { runtime: 'script', ...(await times(once)) };
}

async function times(once: () => Promise<void>): Promise<Omit<RuntimeReport, 'runtime'>> {
  await once(); // the first run loads what later runs reuse
  const taken: number[] = [];
  for (let index = 0; index < RUNS; index++) {
    const startedMs = performance.now();
    await once();
    taken.push(performance.now() - startedMs);
  }
  return { runs: RUNS, run: percentiles(taken) };
}
