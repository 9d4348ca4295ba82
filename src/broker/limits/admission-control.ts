import type { GrantLimits } from '../../domain/capability.js';
import type { GuestError } from '../../domain/run.js';
import { type GrantedCall, RunGrants } from '../capabilities/run-grants.js';
import type { RunContext } from '../run-context.js';
import type { Admission, Busy, CallLimits, LimitedCall } from './call-limits.js';

/** Timeouts of a call, apart from the server's own. */
export interface CallTimes {
  /** The shortest timeout of the configured limits; absent if none sets one. */
  readonly timeoutMs: number | undefined;
  /** For a server without its own timeout. */
  readonly defaultTimeoutMs: number | undefined;
}

/** Everything that counts calls: the configured limits, which all runs share, and the grants of each run. */
export class AdmissionControl {
  readonly #limits: CallLimits;
  readonly #grants: RunGrants;

  constructor(limits: CallLimits, grantLimits?: GrantLimits) {
    this.#limits = limits;
    this.#grants = new RunGrants(grantLimits);
  }

  /** Why this call exceeds its run's grants. */
  refusalOf(call: GrantedCall): GuestError | undefined {
    return this.#grants.refusalOf(call);
  }

  async takeRate(run: RunContext, call: LimitedCall): Promise<Busy | undefined> {
    const granted = this.#grants.takeRate(run, call.tool);
    if (granted !== undefined) return granted;
    const taken = this.#limits.takeRate(call, () => this.#grants.callerRateOf(run, call.tool));
    const busy = taken instanceof Promise ? await taken : taken;
    if (busy !== undefined) this.#grants.giveBackRate(run, call.tool);
    return busy;
  }

  /** The run's own slot comes first: a call that waits for it holds nothing that other runs need. */
  enter(run: RunContext, call: LimitedCall, signal: AbortSignal): Admission | Promise<Admission> {
    const isFree = run.grants === undefined && !this.#limits.hasPlaces(call);
    return isFree ? FREE : this.#enter(run, call, signal);
  }

  async #enter(run: RunContext, call: LimitedCall, signal: AbortSignal): Promise<Admission> {
    const own = await this.#grants.enter(run, call.tool, signal);
    if (own.kind !== 'entered') return own;
    const shared = await this.#limits.enter(call, signal);
    if (shared.kind !== 'entered') {
      own.leave();
      return shared;
    }
    const leave = () => {
      shared.leave();
      own.leave();
    };
    return { kind: 'entered', leave };
  }

  timesOf(run: RunContext, call: LimitedCall): CallTimes {
    // Under a contract with a timeout for the whole run, a single call may use all of it.
    const defaultTimeoutMs = run.callTimeoutMs ?? this.#grants.defaultTimeoutMs(run, call.tool);
    return { timeoutMs: this.#limits.timeoutMs(call), defaultTimeoutMs };
  }
}

/** No limit counts the call. */
const FREE: Admission = { kind: 'entered', leave: () => {} };
