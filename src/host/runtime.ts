import type { AuditTrail } from '../broker/audit/audit-trail.js';
import type { Broker } from '../broker/broker.js';
import type { Redactor } from '../broker/redaction/redactor.js';
import { HostError } from '../domain/errors.js';
import type { TypeCheckers } from '../sandbox/checker/type-checkers.js';
import type { GoRuntime } from '../sandbox/go/go-runtime.js';
import type { ProcessRuntimes } from '../sandbox/processes/process-runtimes.js';
import type { Sandbox } from '../sandbox/sandbox.js';

/** The parts that run programs and make their calls. */
export interface RuntimeParts {
  readonly sandbox: Sandbox;
  readonly broker: Broker;
  /** Real interpreters, detected at the first use. */
  readonly processes: () => Promise<ProcessRuntimes>;
  /** The Go toolchain, detected at the first use. */
  readonly go: () => Promise<GoRuntime>;
  closeProcesses(): Promise<void>;
  /** Type-checks programs. Absent if type checking is disabled. */
  readonly types?: TypeCheckers;
  /** Absent if nothing is recorded. */
  readonly audit?: AuditTrail;
  readonly redactor?: Redactor;
}

/**
 * The sandbox and its jail, opened once, at their first use. A client that only lists tools gets its response before the
 * jail has been probed; a run waits for the probe, or fails with its reason.
 */
export class Runtime {
  readonly #start: () => Promise<RuntimeParts>;
  #opening: Promise<RuntimeParts> | undefined;
  #opened: RuntimeParts | undefined;
  #isClosed = false;

  constructor(start: () => Promise<RuntimeParts>) {
    this.#start = start;
  }

  /** Throws `jail_unavailable`, the same error each time: a failed jail is not tried again. */
  open(): Promise<RuntimeParts> {
    if (this.#isClosed) return Promise.reject(new HostError('shutting_down', 'codemode is shutting down'));
    this.#opening ??= this.#start().then((parts) => {
      this.#opened = parts;
      return parts;
    });
    return this.#opening;
  }

  /** The open parts, without waiting for them or opening them. */
  get opened(): RuntimeParts | undefined {
    return this.#opened;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const opened = await this.#opening?.catch(() => undefined);
    await Promise.all([opened?.sandbox.close(), opened?.closeProcesses(), opened?.types?.close()]);
    // After the programs, so that their last calls are recorded.
    await opened?.audit?.close();
  }
}
