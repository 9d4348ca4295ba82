import { DEFAULT_LIMITS, MAX_SOURCE_BYTES } from '../../domain/limits.js';
import type { CallerId, Failure, SourceLanguage } from '../../domain/run.js';
import type { Sandbox } from '../../sandbox/sandbox.js';

/**
 * A module is parsed whole, then linked, then run. This import cannot be linked, so nothing of the source runs: any error other
 * than a syntax error means that it was parsed.
 */
const NEVER_LINKED = "\n;import 'codemode:only-read';";

/** Parses a program in the sandbox without running it. A program that fills the whole source limit is not checked. */
export async function findSyntaxError(
  sandbox: Sandbox,
  source: string,
  language: SourceLanguage,
): Promise<Failure | undefined> {
  const checked = source + NEVER_LINKED;
  if (Buffer.byteLength(checked) > MAX_SOURCE_BYTES) return undefined;
  const program = { source: checked, language, modules: [], limits: DEFAULT_LIMITS };
  const { report } = await sandbox.start({ caller: READER, program }, { onCall: () => new Promise(() => {}) });
  const { outcome } = await report;
  if (outcome.status === 'completed') throw new TypeError('a program ran that was only to be read');
  const { failure } = outcome;
  return failure.kind === 'import' ? undefined : failure;
}

const READER = 'syntax check' as CallerId;
