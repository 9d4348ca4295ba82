import type { GuestError } from '../../domain/execution.js';
import { type GrantedCall, RunGrants } from '../capabilities/run-grants.js';
import type { RunContext } from '../run-context.js';
import type { Admission, Busy, CallLimits, LimitedCall } from './call-limits.js';

/** Everything that counts calls: the limits of the configuration, which all share, and what each run was granted. */
export class Admittance {
  readonly #limits: CallLimits;
  readonly #grants = new RunGrants();

  constructor(limits: CallLimits) {
    this.#limits = limits;
  }

  /** Why this call is outside of what its run was granted. */
  refusalOf(call: GrantedCall): GuestError | undefined {
    return this.#grants.refusalOf(call);
  }

  takeRate(run: RunContext, call: LimitedCall): Busy | undefined {
    return this.#limits.takeRate(call) ?? this.#grants.takeRate(run, call.tool);
  }

  /** First a place among the run's own calls: one that waits there holds nothing that others want. */
  async enter(run: RunContext, call: LimitedCall, signal: AbortSignal): Promise<Admission> {
    const own = await this.#grants.enter(run, signal);
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

  /** The shortest time that anybody gives it; `undefined` where only its server's own counts. */
  timeoutMs(run: RunContext, call: LimitedCall): number | undefined {
    const times = [this.#limits.timeoutMs(call), this.#grants.timeoutMs(run)].filter((each) => each !== undefined);
    return times.length === 0 ? undefined : Math.min(...times);
  }
}
