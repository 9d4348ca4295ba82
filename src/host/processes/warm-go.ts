import type { PackageProgress } from '../../domain/process-program.js';
import { type Step, stepText } from '../../domain/step.js';
import type { GoRuntime } from '../../sandbox/go/go-runtime.js';

/** The step that the first Go program waits for. */
export const FIRST_COMPILE: Step = {
  doing: 'compiling the Go standard library',
  note: 'only the first run waits for this',
};

/** How often a waiting client is told about it. */
const TICK_MS = 5_000;
/** The pause between two progress messages. */
const SAY_AGAIN_MS = 10_000;

/** Compiles packages in advance, unless they are cached already, and reports that if it takes long. */
export async function warmGo(
  runtime: GoRuntime,
  packages: 'common' | 'all',
  say: (message: string) => void,
): Promise<void> {
  const toolchain = runtime.available();
  if ('reason' in toolchain) return;
  if (runtime.progress().total === 0)
    say(`${toolchain.version} is new here: its common packages are compiled once; programs wait for that`);
  await tellingWhile(runtime, say);
  if (packages === 'common') return;
  let saidAtMs = performance.now();
  let hasCompiled = false;
  const tell = () => say(`${toolchain.version}: ${describePackages(runtime.progress())}`);
  await runtime.warmEverything(() => {
    hasCompiled = true;
    if (performance.now() - saidAtMs < SAY_AGAIN_MS) return;
    saidAtMs = performance.now();
    tell();
  });
  if (hasCompiled) tell();
}

async function tellingWhile(runtime: GoRuntime, say: (message: string) => void): Promise<void> {
  const startedAtMs = performance.now();
  const ticks = setInterval(() => {
    if (runtime.progress().total > 0) return;
    say(stepText(FIRST_COMPILE, Math.round((performance.now() - startedAtMs) / 1_000)));
  }, TICK_MS);
  try {
    await runtime.warm();
  } finally {
    clearInterval(ticks);
  }
}

/**
 * A new Go version is not an error: missing packages are compiled by the next host that serves it, or by the first program that
 * needs them.
 */
export function describePackages({ compiled, total }: PackageProgress = { compiled: 0, total: 0 }): string {
  if (total === 0) return 'its standard library is compiled when profile go is first served';
  const isAll = compiled === total;
  return `${isAll ? `all ${total}` : `${compiled} of ${total}`} packages of its standard library are compiled`;
}
