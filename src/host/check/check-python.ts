import type { CatalogSnapshot } from '../../catalog/snapshot.js';
import { DEFAULT_PROCESS_LIMITS } from '../../domain/process-program.js';
import type { CallerId, CallReply, Failure } from '../../domain/run.js';
import type { TypeVerdict } from '../../domain/type-check.js';
import type { ProgramRunner } from '../runs/program-runner.js';

/** Python reads a program to its end before it starts it (`check_calls.py`). This line then ends it before any of its own. */
const NOTHING_RUNS = 'raise SystemExit\n';
/** It has to be the first line of a program, and cannot be behind ours. */
const FUTURE = /^from __future__ import .*$/gm;

/** What the interpreter says about a program when it has read it. Nothing of the program is run. */
export async function checkPython(
  runner: ProgramRunner,
  caller: CallerId,
  source: string,
  snapshot: CatalogSnapshot,
): Promise<TypeVerdict> {
  const read = `${NOTHING_RUNS}${source.replace(FUTURE, '')}`;
  const program = { source: read, files: runner.filesFor(source, snapshot), limits: DEFAULT_PROCESS_LIMITS, seed: 0 };
  const { outcome } = await runner.run(program, { caller, onCall: async () => NO_CALLS });
  if (outcome.status === 'completed') return { isChecked: true, problems: [] };
  const { failure } = outcome;
  if (!isAboutSource(failure)) return { isChecked: false, reason: failure.message, isFailure: true };
  const { message, hint, position } = failure;
  const { line, column } = position ?? { line: 2, column: 1 };
  const found = { severity: 'error', code: 0, message, position: { line: Math.max(1, line - 1), column } } as const;
  return { isChecked: true, problems: [hint === undefined ? found : { ...found, hint }] };
}

function isAboutSource({ kind }: Failure): boolean {
  return kind === 'type' || kind === 'import' || kind === 'syntax';
}

const NO_CALLS: CallReply = {
  ok: false,
  error: { errorClass: 'CodemodeError', message: 'the program is only checked', hint: '' },
};
