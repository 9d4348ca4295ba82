import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readEnvironment } from './config/environment.js';
import { loadConfig } from './config/load.js';
import { Host } from './host/host.js';
import { openJail } from './sandbox/jail/probe.js';
import { Sandbox } from './sandbox/sandbox.js';
import { SEAL_KEY_BYTES } from './sandbox/sealing.js';
import type { HostSettings } from './surfaces/cli/program.js';

/** Programs that wait for a worker before one more is refused. */
const MAX_QUEUED = 1_000;
const MAX_RUNS_PER_WORKER = 256;
/** A worker is replaced after so many programs, whatever state they left it in. */
const MAX_RUNS_IN_LIFE = 10_000;

/** Puts the program together: the one place that constructs things and hands them to each other. */
export async function compose(settings: HostSettings): Promise<Host> {
  const flags =
    settings.isolation === undefined
      ? []
      : [{ path: ['sandbox', 'isolation'], value: settings.isolation, flag: '--isolation' }];
  const { config } = await loadConfig({
    cwd: process.cwd(),
    environment: readEnvironment(),
    flags,
    ...(settings.configFile === undefined ? {} : { configFile: settings.configFile }),
  });
  const { isolation, unsafelyAllowNoJail, workers } = config.sandbox;
  const jail = await openJail({ isolation, unsafelyAllowNoJail });
  const sandbox = new Sandbox({
    jail,
    workerFolder: workerFolder(),
    pool: {
      min: workers.min,
      max: workers.max ?? Math.max(workers.min, availableParallelism(), 2),
      idleMs: workers.idleTimeout,
      maxQueued: MAX_QUEUED,
      maxRunsPerWorker: MAX_RUNS_PER_WORKER,
      maxRunsInLife: MAX_RUNS_IN_LIFE,
    },
    // Nothing is stored beyond this process yet, so neither is the key.
    sealKey: randomBytes(SEAL_KEY_BYTES),
  });
  return new Host(sandbox);
}

/** `dist/worker`, from the built program as well as from its sources. */
function workerFolder(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const beside = join(here, 'worker', 'manifest.json');
  return existsSync(beside) ? dirname(beside) : join(here, '..', 'dist', 'worker');
}
