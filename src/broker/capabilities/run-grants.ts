import { extname } from 'node:path';
import {
  CAPABILITY_DEFAULTS,
  DEFAULT_GRANT_LIMITS,
  type FilesystemCapability,
  type GrantLimits,
  type McpCapability,
  type NetworkCapability,
} from '../../domain/capability.js';
import type { GuestError } from '../../domain/execution.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { Tool } from '../../domain/tool.js';
import { coversHost } from '../../lib/coverage.js';
import { matchesGlob } from '../../lib/glob.js';
import { FILES_SERVER } from '../../upstream/capabilities/files.js';
import { NETWORK_SERVER } from '../../upstream/capabilities/network.js';
import type { Admission, Busy } from '../limits/call-limits.js';
import { RateWindow } from '../limits/rate-window.js';
import { Slots } from '../limits/slots.js';
import { isListed } from '../policy/tool-pattern.js';
import { type NamedCall, toolCallError } from '../refusals.js';
import type { RunContext } from '../run-context.js';
import type { RunLedger } from '../run-ledger.js';

/** Calls of the last second, of one run or of all runs of a caller. */
interface Windows {
  readonly calls: RateWindow;
  /** To the network. */
  readonly requests: RateWindow;
}

/** Callers that are counted at once; those who have called nothing for a second are forgotten first. */
const MAX_CALLERS = 10_000;

/**
 * Holds each run to the capabilities it was granted. A run without a set of them is under a contract that knows none, and
 * passes; one with an empty set may compute and nothing else.
 */
export class RunGrants {
  readonly #limits: GrantLimits;
  readonly #ofRun = new WeakMap<RunLedger, Windows & { readonly slots: Slots }>();
  readonly #ofCaller = new Map<string, Windows>();

  constructor(limits: GrantLimits = DEFAULT_GRANT_LIMITS) {
    this.#limits = limits;
  }

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

  /** Faster than the grant allows, for the run or for all runs of its caller, is refused with the time to wait. */
  takeRate(run: RunContext, tool: Tool): Busy | undefined {
    const rates = this.#ratesOf(run, tool);
    if (rates === undefined) return undefined;
    const kind = tool.serverId === NETWORK_SERVER ? 'requests' : 'calls';
    const nowMs = performance.now();
    const [own, all] = [this.#runOf(run)[kind], this.#callerOf(run.caller, nowMs)[kind]];
    const retryAfterMs = Math.max(own.waitMs(rates.ofRun, nowMs), all.waitMs(rates.ofCaller, nowMs));
    if (retryAfterMs > 0) return { limit: 'rate', retryAfterMs };
    own.take(nowMs);
    all.take(nowMs);
    return undefined;
  }

  /** More at a time than the grant allows wait for each other. */
  async enter(run: RunContext, signal: AbortSignal): Promise<Admission> {
    if (run.grants === undefined) return NOTHING_TAKEN;
    const entry = await this.#runOf(run).slots.enter(signal);
    if (entry.kind !== 'busy') return entry;
    return { kind: 'busy', busy: { limit: 'concurrency', retryAfterMs: entry.retryAfterMs } };
  }

  /** How long a call may take where its server has no timeout of its own. */
  defaultTimeoutMs({ grants }: RunContext, { serverId }: Tool): number | undefined {
    if (grants === undefined || serverId === FILES_SERVER) return undefined;
    return serverId === NETWORK_SERVER ? this.#limits.timeoutPerRequestMs : this.#limits.timeoutPerCallMs;
  }

  #ratesOf({ grants }: RunContext, { serverId }: Tool): { ofRun: number; ofCaller: number } | undefined {
    if (grants === undefined) {
      const { maxCallsPerSecond } = this.#limits;
      return maxCallsPerSecond === undefined ? undefined : { ofRun: maxCallsPerSecond, ofCaller: maxCallsPerSecond };
    }
    if (serverId === NETWORK_SERVER) {
      const { maxRequestsPerSecond: ofRun, callerMaxRequestsPerSecond } = grants.network ?? DEFAULTS.network;
      return { ofRun, ofCaller: callerMaxRequestsPerSecond ?? ofRun };
    }
    const { maxCallsPerSecond: ofRun, callerMaxCallsPerSecond } = grants.mcp ?? DEFAULTS.mcp;
    return { ofRun, ofCaller: callerMaxCallsPerSecond ?? ofRun };
  }

  #runOf({ ledger }: RunContext) {
    let windows = this.#ofRun.get(ledger);
    if (windows === undefined) {
      windows = { ...openWindows(), slots: new Slots(this.#limits.maxConcurrentCalls) };
      this.#ofRun.set(ledger, windows);
    }
    return windows;
  }

  #callerOf(caller: string, nowMs: number): Windows {
    let windows = this.#ofCaller.get(caller);
    if (windows === undefined) {
      if (this.#ofCaller.size >= MAX_CALLERS) this.#forgetCallers(nowMs);
      windows = openWindows();
      this.#ofCaller.set(caller, windows);
    }
    return windows;
  }

  #forgetCallers(nowMs: number): void {
    for (const [caller, { calls, requests }] of this.#ofCaller)
      if (calls.isEmpty(nowMs) && requests.isEmpty(nowMs)) this.#ofCaller.delete(caller);
    const [oldest] = this.#ofCaller.keys();
    if (this.#ofCaller.size >= MAX_CALLERS && oldest !== undefined) this.#ofCaller.delete(oldest);
  }
}

/** A call, as far as a grant has to look at it. */
export type GrantedCall = NamedCall & { readonly run: RunContext; readonly input: JsonValue | undefined };

/** What the run would have to be granted. */
function violationOf({ run: { grants }, tool, input }: GrantedCall): string | undefined {
  if (grants === undefined) return undefined;
  const { url, path } = isJsonObject(input) ? input : ({} as JsonObject);
  switch (tool.serverId) {
    case NETWORK_SERVER:
      return violatedDestination(String(url), grants.network);
    case FILES_SERVER:
      return violatedFile(tool, String(path), grants.filesystem);
    default:
      if (isToolGranted(tool, grants.mcp)) return undefined;
      return isServerGranted(tool.serverId, grants.mcp) ? `mcp:${tool.serverId}/${tool.name}` : `mcp:${tool.serverId}`;
  }
}

function violatedDestination(address: string, network: NetworkCapability | undefined): string | undefined {
  if (!URL.canParse(address)) return undefined; // refused for what it is, not for where it leads
  const { protocol, hostname, port: given } = new URL(address);
  const port = given === '' ? (protocol === 'https:' ? 443 : 80) : Number(given);
  const isCovered = network?.destinations.some(({ host, ports }) => ports.includes(port) && coversHost(host, hostname));
  return isCovered === true ? undefined : `network:${hostname}:${port}`;
}

/**
 * Said before a person is asked. Which file a path leads to is looked at where it is opened: a link may lead elsewhere, in
 * or out.
 */
function violatedFile(tool: Tool, path: string, files: FilesystemCapability | undefined): string | undefined {
  if (files === undefined) return `filesystem:${path}`;
  if (tool.name === 'writeFile' && files.isReadOnly) return `filesystem:${path} for writing`;
  const isFile = tool.name !== 'listFolder';
  return isFile && files.extensions?.includes(extname(path)) === false ? `filesystem:${path}` : undefined;
}

function openWindows(): Windows {
  return { calls: new RateWindow(), requests: new RateWindow() };
}

/** Of a grant that has none of the kind: what it calls is refused, or is a file. */
const DEFAULTS: { readonly network: RequestRates; readonly mcp: CallRates } = {
  network: CAPABILITY_DEFAULTS.network,
  mcp: CAPABILITY_DEFAULTS.mcp,
};
type RequestRates = Pick<NetworkCapability, 'maxRequestsPerSecond' | 'callerMaxRequestsPerSecond'>;
type CallRates = Pick<McpCapability, 'maxCallsPerSecond' | 'callerMaxCallsPerSecond'>;

const NOTHING_TAKEN: Admission = { kind: 'entered', leave: () => {} };

/** By the configured name of the server: a server cannot take a name that was granted to another. */
export function isToolGranted(tool: Tool, mcp: McpCapability | undefined): boolean {
  if (!isServerGranted(tool.serverId, mcp)) return false;
  return mcp?.tools === undefined || mcp.tools.some((entry) => isListed(entry, tool));
}

export function isServerGranted(serverId: string, mcp: McpCapability | undefined): boolean {
  return mcp?.servers.some((server) => matchesGlob(server, serverId)) === true;
}
