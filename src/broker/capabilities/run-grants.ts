import { CAPABILITY_DEFAULTS, type McpCapability, type NetworkCapability } from '../../domain/capability.js';
import type { GuestError } from '../../domain/execution.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { Tool } from '../../domain/tool.js';
import { coversHost } from '../../lib/coverage.js';
import { FILES_SERVER } from '../../upstream/capabilities/files.js';
import { NETWORK_SERVER } from '../../upstream/capabilities/network.js';
import type { Admission, Busy } from '../limits/call-limits.js';
import { Slots } from '../limits/slots.js';
import { TokenBucket } from '../limits/token-bucket.js';
import { fitsExactly, readToolPattern } from '../policy/tool-pattern.js';
import { type NamedCall, toolCallError } from '../refusals.js';
import type { RunContext } from '../run-context.js';
import type { RunLedger } from '../run-ledger.js';

/** Calls of one run, as its grant counts them. */
interface Meter {
  readonly calls: TokenBucket;
  /** To the network. */
  readonly requests: TokenBucket;
  readonly slots: Slots;
}

/**
 * Holds each run to the capabilities it was granted. A run without a set of them is under a contract that knows none, and
 * passes; one with an empty set may compute and nothing else.
 */
export class RunGrants {
  readonly #meters = new WeakMap<RunLedger, Meter>();

  /** Why this call is not within what the run was granted, in the words that would grant it. */
  refusalOf(call: GrantedCall): GuestError | undefined {
    const violation = violationOf(call);
    if (violation === undefined) return undefined;
    return toolCallError(
      call,
      `the request was not granted ${violation}, so ${call.serverPath}.${call.exportName} cannot be called`,
      `Ask for it in the request: "capabilities": ["${violation}"].`,
      { violation },
    );
  }

  /** Faster than the grant allows is refused with the time to wait. */
  takeRate(run: RunContext, tool: Tool): Busy | undefined {
    const bucket = this.#meterOf(run)?.[tool.serverId === NETWORK_SERVER ? 'requests' : 'calls'];
    if (bucket === undefined) return undefined;
    const retryAfterMs = bucket.waitMs(performance.now());
    if (retryAfterMs > 0) return { limit: 'rate', retryAfterMs };
    bucket.take();
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
    if (grants === undefined) return undefined;
    let meter = this.#meters.get(ledger);
    if (meter === undefined) {
      const { mcp, network } = CAPABILITY_DEFAULTS;
      meter = {
        calls: bucketOf(grants.mcp?.maxCallsPerSecond ?? mcp.maxCallsPerSecond),
        requests: bucketOf(grants.network?.maxRequestsPerSecond ?? network.maxRequestsPerSecond),
        slots: new Slots(mcp.maxConcurrentCalls),
      };
      this.#meters.set(ledger, meter);
    }
    return meter;
  }
}

/** A call, as far as a grant has to look at it. */
export type GrantedCall = NamedCall & { readonly run: RunContext; readonly input: JsonValue | undefined };

/**
 * What the run would have to be granted. Files are looked at where they are opened: what counts there is which file a path
 * leads to.
 */
function violationOf({ run: { grants }, tool, input }: GrantedCall): string | undefined {
  if (grants === undefined) return undefined;
  const { url, path } = isJsonObject(input) ? input : ({} as JsonObject);
  switch (tool.serverId) {
    case NETWORK_SERVER:
      return violatedDestination(String(url), grants.network);
    case FILES_SERVER:
      return grants.filesystem === undefined ? `filesystem:${String(path)}` : undefined;
    default:
      return isGranted(tool, grants.mcp) ? undefined : `mcp:${tool.serverId}`;
  }
}

function violatedDestination(address: string, network: NetworkCapability | undefined): string | undefined {
  if (!URL.canParse(address)) return undefined; // refused for what it is, not for where it leads
  const { protocol, hostname, port: given } = new URL(address);
  const port = given === '' ? (protocol === 'https:' ? 443 : 80) : Number(given);
  const isCovered = network?.destinations.some(({ host, ports }) => ports.includes(port) && coversHost(host, hostname));
  return isCovered === true ? undefined : `network:${hostname}:${port}`;
}

function bucketOf(perSecond: number): TokenBucket {
  return new TokenBucket({ calls: perSecond, perMs: 1_000 }, performance.now());
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
