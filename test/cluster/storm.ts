import type { Cluster } from './cluster.js';
import { DATABASE_FAULTS, HOST_FAULTS } from './fault-kinds.js';
import type { PlannedFault } from './fault-schedule.js';
import type { Workload } from './workload.js';

export interface StormOptions {
  readonly faults: Iterable<PlannedFault>;
  /** It is over after this, or with the last fault. */
  readonly durationMs: number;
  /** Between two new runs. */
  readonly submitEveryMs: number;
  /** Told of every fault as it begins. */
  readonly onFault?: (fault: PlannedFault) => void;
}

/** Longer than any fault of the database. */
const START_MS = 120_000;
const START_AGAIN_MS = 500;
const DECIDE_EVERY_MS = 250;
/** Requests that wait for an answer at once: hosts that are cut off answer nobody. */
const MAX_SUBMITTING = 12;

/**
 * Work under faults, one after the other and some at once. Each host or database has one fault at a time. At the end
 * everything is whole again.
 */
export async function storm(cluster: Cluster, workload: Workload, options: StormOptions): Promise<void> {
  const over = new AbortController();
  const working = [submitAll(workload, options, over.signal), decideAll(workload, over.signal)];
  const lasting = new Map<string, Promise<void>>();
  const until = performance.now() + options.durationMs;
  try {
    for (const fault of options.faults) {
      if (performance.now() >= until) break;
      const target = fault.host === undefined ? 'database' : `host ${fault.host}`;
      await lasting.get(target);
      options.onFault?.(fault);
      lasting.set(target, suffer(cluster, fault));
      await pause(Math.min(fault.nextAfterMs, Math.max(0, until - performance.now())));
    }
    await Promise.all(lasting.values());
  } finally {
    over.abort();
    await Promise.all(working);
  }
}

async function suffer(cluster: Cluster, { kind, host: place, durationMs }: PlannedFault): Promise<void> {
  const host = place === undefined ? undefined : cluster.hosts[place];
  if (host === undefined) {
    await DATABASE_FAULTS[kind]?.begin(cluster);
    await pause(durationMs);
    await DATABASE_FAULTS[kind]?.end(cluster);
  } else {
    await HOST_FAULTS[kind]?.begin(host);
    await pause(durationMs);
    await startable(host, () => HOST_FAULTS[kind]?.end(host));
  }
}

/** A host that finds no database when it starts says so and ends: its operator starts it again. */
async function startable(host: { readonly isUp: boolean }, end: () => Promise<void> | void | undefined): Promise<void> {
  for (const until = performance.now() + START_MS; ; await pause(START_AGAIN_MS)) {
    try {
      return await end();
    } catch (error) {
      if (host.isUp || performance.now() > until) throw error;
    }
  }
}

async function submitAll(workload: Workload, { submitEveryMs }: StormOptions, over: AbortSignal): Promise<void> {
  const submitting = new Set<Promise<unknown>>();
  while (!over.aborted) {
    if (submitting.size < MAX_SUBMITTING) {
      const submitted: Promise<unknown> = workload
        .submit({ delayMs: submitting.size * 20 })
        .finally(() => submitting.delete(submitted));
      submitting.add(submitted);
    }
    await pause(submitEveryMs);
  }
  await Promise.all(submitting);
}

async function decideAll(workload: Workload, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await workload.decideAll();
    await pause(DECIDE_EVERY_MS);
  }
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}
