import { CAPABILITY_DEFAULTS, type McpCapability } from '../../domain/capability.js';
import type { GuestError } from '../../domain/execution.js';
import type { Tool } from '../../domain/tool.js';
import type { Admission, Busy } from '../limits/call-limits.js';
import { Slots } from '../limits/slots.js';
import { TokenBucket } from '../limits/token-bucket.js';
import { fitsExactly, readToolPattern } from '../policy/tool-pattern.js';
import { type NamedCall, toolCallError } from '../refusals.js';
import type { RunContext } from '../run-context.js';
import type { RunLedger } from '../run-ledger.js';

/** Calls of one run, as its grant counts them. */
interface Meter {
  readonly bucket: TokenBucket;
  readonly slots: Slots;
}

/**
 * Holds each run to the capabilities it was granted. A run without a set of them is under a contract that knows none, and
 * passes; one with an empty set may compute and nothing else.
 */
export class RunGrants {
  readonly #meters = new WeakMap<RunLedger, Meter>();

  /** Why this call is not within what the run was granted, in the words that would grant it. */
  refusalOf(call: NamedCall & { readonly run: RunContext }): GuestError | undefined {
    const { grants } = call.run;
    if (grants === undefined || isGranted(call.tool, grants.mcp)) return undefined;
    const violation = `mcp:${call.tool.serverId}`;
    return toolCallError(
      call,
      `the request was not granted ${violation}, so ${call.serverPath}.${call.exportName} cannot be called`,
      `Ask for it in the request: "capabilities": ["${violation}"].`,
      { violation },
    );
  }

  /** Faster than the grant allows is refused with the time to wait. */
  takeRate(run: RunContext): Busy | undefined {
    const meter = this.#meterOf(run);
    if (meter === undefined) return undefined;
    const retryAfterMs = meter.bucket.waitMs(performance.now());
    if (retryAfterMs > 0) return { limit: 'rate', retryAfterMs };
    meter.bucket.take();
    return undefined;
  }

  /** More at a time than the grant allows wait for each other. */
  async enter(run: RunContext, signal: AbortSignal): Promise<Admission> {
    const entry = await this.#meterOf(run)?.slots.enter(signal);
    if (entry === undefined) return NOTHING_TAKEN;
    if (entry.kind !== 'busy') return entry;
    return { kind: 'busy', busy: { limit: 'concurrency', retryAfterMs: entry.retryAfterMs } };
  }

  timeoutMs({ grants }: RunContext): number | undefined {
    return grants?.mcp === undefined ? undefined : CAPABILITY_DEFAULTS.mcp.timeoutMs;
  }

  #meterOf({ grants, ledger }: RunContext): Meter | undefined {
    if (grants?.mcp === undefined) return undefined;
    let meter = this.#meters.get(ledger);
    if (meter === undefined) {
      const { maxCallsPerSecond } = grants.mcp;
      meter = {
        bucket: new TokenBucket({ calls: maxCallsPerSecond, perMs: 1_000 }, performance.now()),
        slots: new Slots(CAPABILITY_DEFAULTS.mcp.maxConcurrentCalls),
      };
      this.#meters.set(ledger, meter);
    }
    return meter;
  }
}

const NOTHING_TAKEN: Admission = { kind: 'entered', leave: () => {} };

/** By the configured name of the server: a server cannot take a name that was granted to another. */
function isGranted(tool: Tool, mcp: McpCapability | undefined): boolean {
  if (mcp === undefined || !mcp.servers.some((server) => fitsExactly({ server, tool: '*' }, tool))) return false;
  return (
    mcp.tools === undefined ||
    mcp.tools.some((text) => fitsExactly(readToolPattern(text) ?? { server: '*', tool: text }, tool))
  );
}
