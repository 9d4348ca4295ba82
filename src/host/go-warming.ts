import type { PackageProgress } from '../domain/process-program.js';
import type { GoRuntime } from '../sandbox/go/go-runtime.js';

/** Between two words about how far it is. */
const SAY_AGAIN_MS = 10_000;

/** Compiles packages ahead of need, as far as nobody has done it yet, and says so where it takes long. */
export async function warmGo(
  runtime: GoRuntime,
  packages: 'common' | 'all',
  say: (message: string) => void,
): Promise<void> {
  const toolchain = runtime.available();
  if ('reason' in toolchain) return;
  if (runtime.progress().total === 0)
    say(`${toolchain.version} is new here: its common packages are compiled once; programs wait for that`);
  await runtime.warm();
  if (packages === 'common') return;
  let saidAtMs = performance.now();
  let hasCompiled = false;
  const tell = () => say(`${toolchain.version}: ${packagesSaid(runtime.progress())}`);
  await runtime.warmEverything(() => {
    hasCompiled = true;
    if (performance.now() - saidAtMs < SAY_AGAIN_MS) return;
    saidAtMs = performance.now();
    tell();
  });
  if (hasCompiled) tell();
}

/** A new Go is no fault: what is missing is compiled by the next host that serves it, or by the first to need it. */
export function packagesSaid({ compiled, total }: PackageProgress = { compiled: 0, total: 0 }): string {
  if (total === 0) return 'its standard library is compiled when profile go is first served';
  const isAll = compiled === total;
  return `${isAll ? `all ${total}` : `${compiled} of ${total}`} packages of its standard library are compiled`;
}
