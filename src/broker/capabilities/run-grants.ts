import { hash } from 'node:crypto';
import { dirname, extname, normalize } from 'node:path';
import {
  CAPABILITY_DEFAULTS,
  DEFAULT_GRANT_LIMITS,
  type FilesystemCapability,
  type GrantLimits,
  type McpCapability,
  type NetworkCapability,
} from '../../domain/capability.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { GuestError } from '../../domain/run.js';
import type { Tool } from '../../domain/tool.js';
import { coversHost, coversPath } from '../../lib/host-and-path-match.js';
import { matchesGlob } from '../../lib/text/glob.js';
import type { SharedRate } from '../../store/rates.js';
import { FILES_SERVER, ofExtension } from '../../upstream/capabilities/files.js';
import { NETWORK_SERVER } from '../../upstream/capabilities/network.js';
import type { Admission, Busy } from '../limits/call-limits.js';
import { RateWindow } from '../limits/rate-window.js';
import { Slots } from '../limits/slots.js';
import type { ReceivedData } from '../policy/flow.js';
import { isListed } from '../policy/tool-pattern.js';
import { type NamedCall, nameOf, toolCallError } from '../refusals.js';
import type { RunContext } from '../run-context.js';

/** Calls of the last second, by one run or by all runs of a caller. */
interface Windows {
  readonly calls: RateWindow;
  /** Network requests. */
  readonly requests: RateWindow;
}

/** Concurrency slots of a run. Each kind waits only for its own: the contract limits calls to servers. */
interface Places {
  readonly calls: Slots;
  readonly requests: Slots;
  readonly files: Slots;
}

/** Callers that are counted at once. Callers without a call in the last second are dropped first. */
const MAX_CALLERS = 10_000;

/**
 * Holds each run to its granted capabilities. A run without a capability set is under a contract without capabilities, and
 * passes. A run with an empty set may only compute.
 */
export class RunGrants {
  readonly #limits: GrantLimits;
  /** Keyed by the run's received data, which the direct calls of one client share. */
  readonly #ofRun = new WeakMap<ReceivedData, Windows & { readonly places: Places }>();
  readonly #ofCaller = new Map<string, Windows>();

  constructor(limits: GrantLimits = DEFAULT_GRANT_LIMITS) {
    this.#limits = limits;
  }

  /** Why this call exceeds the run's grants, in the form that would grant it. */
  refusalOf(call: GrantedCall): GuestError | undefined {
    const found = violationOf(call);
    if (found === undefined) return undefined;
    const { violation, capabilities = [violation] } = typeof found === 'string' ? { violation: found } : found;
    return toolCallError(
      call,
      `the request was not granted ${violation}, so ${nameOf(call)} cannot be called`,
      `Ask for it in the request: "capabilities": ${JSON.stringify(capabilities)}.`,
      { violation, capabilities },
    );
  }

  /** A call that exceeds the granted rate, of the run or of all runs of its caller, is refused with the time to wait. */
  takeRate(run: RunContext, tool: Tool): Busy | undefined {
    const rates = this.#ratesOf(run, tool);
    const kind = kindOf(tool);
    if (rates === undefined || kind === 'files') return undefined;
    const nowMs = performance.now();
    const [own, all] = [this.#runOf(run)[kind], this.#callerOf(run.caller, nowMs)[kind]];
    const retryAfterMs = Math.max(own.waitMs(rates.ofRun, nowMs), all.waitMs(rates.ofCaller, nowMs));
    if (retryAfterMs > 0) return { limit: 'rate', retryAfterMs };
    own.take(nowMs);
    all.take(nowMs);
    return undefined;
  }

  /** A call that another limit refused was not made. */
  giveBackRate(run: RunContext, tool: Tool): void {
    const kind = kindOf(tool);
    if (kind === 'files' || this.#ratesOf(run, tool) === undefined) return;
    this.#runOf(run)[kind].giveBack();
    this.#ofCaller.get(run.caller)?.[kind].giveBack();
  }

  /** What all runs of a caller have together, on whichever hosts they are. A run is on one host, which counts it. */
  callerRateOf(run: RunContext, tool: Tool): SharedRate | undefined {
    const kind = kindOf(tool);
    const rates = kind === 'files' ? undefined : this.#ratesOf(run, tool);
    if (rates === undefined) return undefined;
    const key = hash('sha256', JSON.stringify(['rate of a caller', kind, run.caller]), 'base64url');
    return { key, calls: rates.ofCaller, perMs: 1_000 };
  }

  /** Calls beyond the granted concurrency wait for each other. */
  async enter(run: RunContext, tool: Tool, signal: AbortSignal): Promise<Admission> {
    if (run.grants === undefined) return NOTHING_TAKEN;
    const entry = await this.#runOf(run).places[kindOf(tool)].enter(signal);
    if (entry.kind !== 'busy') return entry;
    return { kind: 'busy', busy: { limit: 'concurrency', retryAfterMs: entry.retryAfterMs } };
  }

  /** Timeout of a call if its server has none of its own. */
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

  #runOf({ ledger: { received } }: RunContext) {
    let windows = this.#ofRun.get(received);
    if (windows === undefined) {
      windows = { ...openWindows(), places: openPlaces(this.#limits.maxConcurrentCalls) };
      this.#ofRun.set(received, windows);
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

/** The parts of a call that a grant is checked against. */
export type GrantedCall = NamedCall & { readonly run: RunContext; readonly input: JsonValue | undefined };

/** What was not granted, and how a request asks for it if a list entry with the same text is not enough. */
interface Violation {
  readonly violation: string;
  readonly capabilities?: JsonObject;
}

/** The capability that the run would need. */
function violationOf({ run: { grants }, tool, input }: GrantedCall): string | Violation | undefined {
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
  if (!URL.canParse(address)) return undefined; // refused later as an invalid URL, not for its destination
  const { protocol, hostname, port: given } = new URL(address);
  const port = given === '' ? (protocol === 'https:' ? 443 : 80) : Number(given);
  const isCovered = network?.destinations.some(({ host, ports }) => ports.includes(port) && coversHost(host, hostname));
  return isCovered === true ? undefined : `network:${hostname}:${port}`;
}

/**
 * Checked before a person is asked. The real file behind a path is checked when it is opened: a link may lead elsewhere, in or
 * out.
 */
function violatedFile(
  tool: Tool,
  path: string,
  files: FilesystemCapability | undefined,
): string | Violation | undefined {
  if (files === undefined) return `filesystem:${path}`;
  const asked = (more: JsonObject) => ({ filesystem: { allowedPaths: [dirname(normalize(path))], ...more } });
  if (tool.name === 'writeFile' && files.isReadOnly)
    return { violation: `filesystem:${path} for writing`, capabilities: asked({ readOnly: false }) };
  if (tool.name === 'listFolder' || files.extensions?.includes(extname(path)) !== false) return undefined;
  // If the path was not granted either, the path has to be requested first.
  if (!files.paths.some((each) => coversPath(each, normalize(path)))) return `filesystem:${path}`;
  const allowedExtensions = [...files.extensions, extname(path)];
  const more = tool.name === 'writeFile' ? { allowedExtensions, readOnly: false } : { allowedExtensions };
  return { violation: ofExtension(path), capabilities: asked(more) };
}

function openWindows(): Windows {
  return { calls: new RateWindow(), requests: new RateWindow() };
}

function openPlaces(atOnce: number): Places {
  return { calls: new Slots(atOnce), requests: new Slots(atOnce), files: new Slots(atOnce) };
}

/** The contract sets no rate for files. The limit on a run's number of calls bounds them. */
function kindOf({ serverId }: Tool): keyof Places {
  if (serverId === NETWORK_SERVER) return 'requests';
  return serverId === FILES_SERVER ? 'files' : 'calls';
}

/** Used if a grant lacks this kind. Its calls are refused anyway. */
const DEFAULTS: { readonly network: RequestRates; readonly mcp: CallRates } = {
  network: CAPABILITY_DEFAULTS.network,
  mcp: CAPABILITY_DEFAULTS.mcp,
};
type RequestRates = Pick<NetworkCapability, 'maxRequestsPerSecond' | 'callerMaxRequestsPerSecond'>;
type CallRates = Pick<McpCapability, 'maxCallsPerSecond' | 'callerMaxCallsPerSecond'>;

const NOTHING_TAKEN: Admission = { kind: 'entered', leave: () => {} };

/** Compares the configured name of the server: a server cannot take a name that was granted to another. */
export function isToolGranted(tool: Pick<Tool, 'serverId' | 'name'>, mcp: McpCapability | undefined): boolean {
  return isServerGranted(tool.serverId, mcp) && listsOf(mcp).every(({ tools }) => isAmong(tools, tool));
}

export function isServerGranted(serverId: string, mcp: McpCapability | undefined): boolean {
  return (
    mcp !== undefined && listsOf(mcp).every(({ servers }) => servers.some((server) => matchesGlob(server, serverId)))
  );
}

/** Its own lists, and the lists in `within`. */
function listsOf(mcp: McpCapability | undefined): readonly Pick<McpCapability, 'servers' | 'tools'>[] {
  return mcp === undefined ? [] : [mcp, ...(mcp.within ?? [])];
}

function isAmong(tools: readonly string[] | undefined, tool: Pick<Tool, 'serverId' | 'name'>): boolean {
  return tools === undefined || tools.some((entry) => isListed(entry, tool));
}
