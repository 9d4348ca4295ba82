import {
  CAPABILITY_DEFAULTS,
  type CapabilitySet,
  type Destination,
  type FilesystemCapability,
  type McpCapability,
  type NetworkCapability,
} from '../../domain/capability.js';
import { realPathOf } from '../../lib/files/real-path.js';
import { coversHost, coversPath } from '../../lib/host-and-path-match.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { matchesGlob } from '../../lib/text/glob.js';
import { readToolPattern, type ToolPattern } from '../policy/tool-pattern.js';

/**
 * The first requested capability that exceeds the bounds, in the form that would grant it; undefined if all are within. Nothing
 * is narrowed silently: a program that runs with less than it asked for fails later, for no visible reason.
 */
export function violationOf(asked: CapabilitySet, bounds: CapabilitySet): string | undefined {
  return (
    violatedNetwork(asked.network, bounds.network) ??
    violatedFilesystem(asked.filesystem, bounds.filesystem) ??
    violatedMcp(asked.mcp, bounds.mcp) ??
    violatedAmount(asked, bounds) ??
    violatedSystem(asked.system, bounds.system)
  );
}

/**
 * Where the bounds give less than a request's defaults. The request did not ask for that much explicitly, so it is not refused,
 * but the shortfall is reported.
 */
export function shortfallsOf(asked: CapabilitySet, bounds: CapabilitySet): string[] {
  const amounts = amountsOf(asked, bounds).flatMap(({ asked: most, bound, words }) =>
    bound !== undefined && most > bound ? [`at most ${words(bound)}`] : [],
  );
  const { filesystem, mcp } = asked;
  const extensions = filesystem?.extensions === undefined ? bounds.filesystem?.extensions : undefined;
  const granted = mcp?.tools === undefined ? bounds.mcp?.tools : undefined;
  const isWhole = granted === undefined || mcp?.servers.every((server) => isCovered(`${server}/*`, granted));
  return [
    ...amounts,
    ...(filesystem === undefined || extensions === undefined
      ? []
      : [`only files that end in ${extensions.join(', ')}`]),
    ...(mcp === undefined || isWhole ? [] : [`only the tools ${granted.join(', ')}`]),
  ];
}

interface Amount {
  readonly key: string;
  readonly asked: number;
  /** The value for a request that does not set one. */
  readonly byDefault: number;
  readonly bound: number | undefined;
  readonly words: (amount: number) => string;
}

function amountsOf({ network, filesystem, mcp }: CapabilitySet, bounds: CapabilitySet): Amount[] {
  const { network: net, filesystem: files, mcp: tools } = CAPABILITY_DEFAULTS;
  const amount = (key: string, asked: number, byDefault: number, bound: number | undefined, of: string): Amount[] => [
    { key, asked, byDefault, bound, words: (most) => `${most} ${of}` },
  ];
  return [
    ...(mcp === undefined
      ? []
      : amount(
          'mcp.maxCallsPerSecond',
          mcp.maxCallsPerSecond,
          tools.maxCallsPerSecond,
          bounds.mcp?.maxCallsPerSecond,
          'tool calls a second',
        )),
    ...(network === undefined
      ? []
      : [
          ...amount(
            'network.maxRequestsPerSecond',
            network.maxRequestsPerSecond,
            net.maxRequestsPerSecond,
            bounds.network?.maxRequestsPerSecond,
            'requests a second',
          ),
          ...amount(
            'network.maxRequestSize',
            network.maxRequestBytes,
            net.maxRequestBytes,
            bounds.network?.maxRequestBytes,
            'bytes for each request and answer',
          ),
        ]),
    ...(filesystem === undefined
      ? []
      : amount(
          'filesystem.maxFileSize',
          filesystem.maxFileBytes,
          files.maxFileBytes,
          bounds.filesystem?.maxFileBytes,
          'bytes for each file',
        )),
  ];
}

/** The requested capabilities, at the rates and sizes that the bounds allow. Only for requests without a violation. */
export function withinBounds(asked: CapabilitySet, bounds: CapabilitySet): CapabilitySet {
  const { network, filesystem, mcp, system } = asked;
  const least = (left: number, right = left) => Math.min(left, right);
  return {
    ...omitUndefined({
      network: ifDefined(network, (network) => ({
        ...network,
        maxRequestsPerSecond: least(network.maxRequestsPerSecond, bounds.network?.maxRequestsPerSecond),
        ...ceiling(
          'callerMaxRequestsPerSecond',
          network.callerMaxRequestsPerSecond,
          bounds.network?.maxRequestsPerSecond,
        ),
        maxRequestBytes: least(network.maxRequestBytes, bounds.network?.maxRequestBytes),
      })),
      filesystem: ifDefined(filesystem, (filesystem) => ({
        ...filesystem,
        within: [...(filesystem.within ?? []), bounds.filesystem?.paths ?? []],
        maxFileBytes: least(filesystem.maxFileBytes, bounds.filesystem?.maxFileBytes),
        ...extensionsWithin(filesystem.extensions, bounds.filesystem?.extensions),
      })),
      mcp: ifDefined(mcp, (mcp) => ({
        ...mcp,
        maxCallsPerSecond: least(mcp.maxCallsPerSecond, bounds.mcp?.maxCallsPerSecond),
        ...ceiling('callerMaxCallsPerSecond', mcp.callerMaxCallsPerSecond, bounds.mcp?.maxCallsPerSecond),
        ...toolsWithin(mcp, bounds.mcp),
      })),
      system,
    }),
  };
}

/**
 * The capabilities that both grant: a token's within those of the configuration. A request is granted whole or refused, but a
 * token is written once for all later configurations. `violationOf` reports the part of it that is not granted.
 */
export function intersectionOf(token: CapabilitySet, configured: CapabilitySet): CapabilitySet {
  const { network, filesystem, mcp } = configured;
  const inBoth: CapabilitySet = {
    ...(token.network === undefined || network === undefined
      ? {}
      : { network: { ...token.network, destinations: commonDestinations(token.network, network) } }),
    ...(token.filesystem === undefined || filesystem === undefined
      ? {}
      : {
          filesystem: {
            ...token.filesystem,
            // Links may lead elsewhere, so an opened file must lie within both: see `within`.
            paths: commonPaths(token.filesystem.paths, filesystem.paths),
            isReadOnly: token.filesystem.isReadOnly || filesystem.isReadOnly,
          },
        }),
    ...(token.mcp === undefined || mcp === undefined
      ? {}
      : { mcp: { ...token.mcp, within: [...(token.mcp.within ?? []), listsOf(mcp)] } }),
  };
  return withinBounds(inBoth, configured);
}

/** Of tools that were asked for by name, calls are checked against the list that grants them, too. */
function toolsWithin(asked: McpCapability, bounds: McpCapability | undefined): Partial<McpCapability> {
  if (bounds?.tools === undefined) return {};
  if (asked.tools === undefined) return { tools: bounds.tools };
  return { within: [...(asked.within ?? []), listsOf(bounds)] };
}

function listsOf({ servers, tools }: McpCapability): Pick<McpCapability, 'servers' | 'tools'> {
  return { servers, ...omitUndefined({ tools }) };
}

function commonDestinations(left: NetworkCapability, right: NetworkCapability): Destination[] {
  return left.destinations.flatMap((one) =>
    right.destinations.flatMap((other) => {
      const host = narrower(one.host, other.host, coversHost);
      const ports = one.ports.filter((port) => other.ports.includes(port));
      return host === undefined || ports.length === 0 ? [] : [{ host, ports }];
    }),
  );
}

function commonPaths(left: readonly string[], right: readonly string[]): string[] {
  const common = left.flatMap((one) => right.flatMap((other) => narrower(one, other, coversPath) ?? []));
  return [...new Set(common)];
}

/** Of two names or folders, the one that lies within the other, if one does. */
function narrower(left: string, right: string, covers: (wide: string, narrow: string) => boolean): string | undefined {
  if (left === right || covers(right, left)) return left;
  return covers(left, right) ? right : undefined;
}

/** The rate for all runs of a caller together is the lowest that any of them sets. */
function ceiling<Key extends string>(key: Key, before: number | undefined, bound: number | undefined) {
  const most = Math.min(before ?? Number.POSITIVE_INFINITY, bound ?? Number.POSITIVE_INFINITY);
  return (Number.isFinite(most) ? { [key]: most } : {}) as { readonly [key in Key]?: number };
}

function violatedNetwork(asked: NetworkCapability | undefined, bounds: NetworkCapability | undefined) {
  for (const { host, ports } of asked?.destinations ?? [])
    for (const port of ports) {
      const isGranted = bounds?.destinations.some(
        (each) => each.ports.includes(port) && (each.host === host || coversHost(each.host, host)),
      );
      if (isGranted !== true) return `network:${host}:${port}`;
    }
  return undefined;
}

/** Compares where the paths lead, not how they are written: a link below a granted folder may lead out of it. */
function violatedFilesystem(asked: FilesystemCapability | undefined, bounds: FilesystemCapability | undefined) {
  if (asked === undefined) return undefined;
  const granted = bounds?.paths.map(realPathOf) ?? [];
  const outside = asked.paths.find((path) => {
    const real = realPathOf(path);
    return !granted.some((each) => coversPath(each, real));
  });
  if (outside !== undefined) return `filesystem:${outside}`;
  if (!asked.isReadOnly && bounds?.isReadOnly !== false && asked.paths[0] !== undefined)
    return `filesystem:${asked.paths[0]} for writing`;
  return undefined;
}

function violatedMcp(asked: McpCapability | undefined, bounds: McpCapability | undefined) {
  if (asked === undefined) return undefined;
  const outside = asked.servers.find((server) => !isCovered(server, bounds?.servers ?? []));
  if (outside !== undefined) return `mcp:${outside}`;
  const granted = bounds?.tools;
  const tool = granted && asked.tools?.find((each) => !isToolCovered(each, asked.servers, granted));
  return tool === undefined ? undefined : `mcp:${tool}`;
}

function violatedAmount(asked: CapabilitySet, bounds: CapabilitySet): string | undefined {
  const much = amountsOf(asked, bounds).find(
    ({ asked: most, byDefault, bound }) => bound !== undefined && most > bound && most !== byDefault,
  );
  if (much !== undefined) return `${much.key}: ${much.asked}`;
  const granted = bounds.filesystem?.extensions;
  const other = granted && asked.filesystem?.extensions?.find((each) => !granted.includes(each));
  return other === undefined ? undefined : `filesystem.allowedExtensions: ${other}`;
}

function violatedSystem(asked: readonly string[] = [], bounds: readonly string[] = []) {
  const outside = asked.find((name) => !bounds.includes(name));
  return outside === undefined ? undefined : `system:${outside}`;
}

/**
 * One tool can be written in three ways: `weather/forecast`, `weather.forecast`, and `forecast` of whatever server is granted. A
 * text with a dot may be an id or a name: one of both has to be covered, and calls are checked against both lists (`within`).
 */
function isToolCovered(entry: string, servers: readonly string[], granted: readonly string[]): boolean {
  if (granted.includes(entry)) return true;
  const isCoveredBy = (pattern: ToolPattern) => granted.some((each) => coversTools(each, pattern));
  const pattern = readToolPattern(entry);
  if (pattern !== undefined) return isCoveredBy(pattern);
  const ids = [...entry.matchAll(/\./g)]
    .map(({ index }) => ({ server: entry.slice(0, index), tool: entry.slice(index + 1) }))
    .filter(({ server }) => servers.some((each) => matchesGlob(each, server)));
  return servers.every((server) => isCoveredBy({ server, tool: entry })) || (ids.length > 0 && ids.every(isCoveredBy));
}

/** Patterns are compared as text, as in `isCovered`. */
function coversTools(granted: string, { server, tool }: ToolPattern): boolean {
  const pattern = readToolPattern(granted);
  if (pattern !== undefined) return matchesGlob(pattern.server, server) && matchesGlob(pattern.tool, tool);
  return matchesGlob(granted, tool) || granted === `${server}.${tool}`;
}

/** A pattern is covered by one that matches it as text: `a*` by `*`, not `*` by `a*`. */
function isCovered(pattern: string, granted: readonly string[]): boolean {
  return granted.some((each) => matchesGlob(each, pattern));
}

function extensionsWithin(asked: readonly string[] | undefined, bounds: readonly string[] | undefined) {
  if (bounds === undefined) return omitUndefined({ extensions: asked });
  return { extensions: asked === undefined ? bounds : asked.filter((each) => bounds.includes(each)) };
}
