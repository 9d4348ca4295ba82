import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolChecker } from '../../src/broker/arguments/tool-checker.js';
import { Broker } from '../../src/broker/broker.js';
import { registerCapabilities } from '../../src/broker/capabilities/capability-tools.js';
import { CallLimits } from '../../src/broker/limits/call-limits.js';
import { Catalog } from '../../src/catalog/catalog.js';
import { exampleInput } from '../../src/catalog/examples.js';
import { openRecords } from '../../src/compose/records.js';
import type { CapabilitySet } from '../../src/domain/capability.js';
import { MAXIMUM_LIMITS } from '../../src/domain/limits.js';
import { DEFAULT_PROCESS_LIMITS } from '../../src/domain/process-program.js';
import type { CallerId } from '../../src/domain/run.js';
import { Host } from '../../src/host/host.js';
import { KeptResults } from '../../src/host/runs/kept-results.js';
import { Runtime } from '../../src/host/runtime.js';
import type { Session, SessionOptions } from '../../src/host/session.js';
import { Telemetry } from '../../src/host/telemetry.js';
import { omitUndefined } from '../../src/lib/omit-undefined.js';
import { codeExecutionPresentation } from '../../src/profiles/code-execution/presentation.js';
import { codemodePresentation } from '../../src/profiles/codemode/presentation.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { openGate } from './policy.js';
import { storeIn } from './store.js';
import { createRegistry } from './upstreams.js';

/** What a token grants, and what the configuration does. */
export interface Grants {
  readonly bounds?: CapabilitySet;
  readonly reach?: CapabilitySet;
}

/** A session of profile codemode over a sandbox of the test, with no servers. The sandbox stays the test's to close. */
export function openSession(sandbox: Sandbox, { bounds, reach = {} }: Grants = {}): Session {
  const registry = createRegistry();
  registerCapabilities(registry);
  const stateFolder = mkdtempSync(join(tmpdir(), 'codemode-state-'));
  const records = openRecords({
    store: storeIn(stateFolder),
    fingerprintOf: () => '',
    setting: '',
    expireAfterMs: 60_000,
  });
  const broker = new Broker({
    registry,
    checker: new ToolChecker(exampleInput),
    gate: openGate(),
    limits: new CallLimits([]),
    isOutputStrict: false,
    approvals: records.approvals,
  });
  const options: SessionOptions = {
    caller: 'tester' as CallerId,
    profile: 'codemode',
    presentation: codemodePresentation,
    codeMode: { enabled: true, excludedTools: [] },
    reservedNames: [],
    maxResultBytes: Number.POSITIVE_INFINITY,
    ...omitUndefined({ bounds }),
  };
  const host = new Host({
    runtime: new Runtime(async () => ({
      ...{ sandbox, broker, processes: noInterpreters, go: noInterpreters },
      closeProcesses: async () => {},
    })),
    gate: openGate(),
    catalog: new Catalog({ registry, fingerprintOf: () => '', ttlMs: 60_000 }),
    results: new KeptResults(),
    reach,
    quotas: records.quotas,
    records,
    suspended: records.suspended,
    telemetry: new Telemetry(),
    scripts: records.scripts,
    presentations: { codemode: codemodePresentation, code_execution: codeExecutionPresentation },
    scriptLimits: MAXIMUM_LIMITS,
    undo: { rules: [], store: () => records.store.undo() },
    firstListingMs: 5_000,
    patienceMs: 1_000,
    replayBounds: {
      program: MAXIMUM_LIMITS,
      process: { node: DEFAULT_PROCESS_LIMITS, python: DEFAULT_PROCESS_LIMITS, go: DEFAULT_PROCESS_LIMITS },
    },
    sessionOptionsOf: (caller) => ({ ...options, caller }),
  });
  return host.openSession(options);
}

async function noInterpreters(): Promise<never> {
  throw new Error('no real interpreters here');
}
