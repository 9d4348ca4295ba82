import type { CapabilitySet, FilesystemCapability, McpCapability, NetworkCapability } from '../../domain/capability.js';
import { coversHost, coversPath } from '../../lib/coverage.js';
import { matchesGlob } from '../../lib/glob.js';

/**
 * The first thing asked for that is not within bounds, in the words that would grant it; nothing where all of it is.
 * Nothing is narrowed silently: a program that runs with less than it asked for fails later, and for no visible reason.
 */
export function violationOf(asked: CapabilitySet, bounds: CapabilitySet): string | undefined {
  return (
    violatedNetwork(asked.network, bounds.network) ??
    violatedFilesystem(asked.filesystem, bounds.filesystem) ??
    violatedMcp(asked.mcp, bounds.mcp) ??
    violatedSystem(asked.system, bounds.system)
  );
}

/** What was asked for, at the rates and sizes that the bounds allow. For what has no violation. */
export function withinBounds(asked: CapabilitySet, bounds: CapabilitySet): CapabilitySet {
  const { network, filesystem, mcp, system } = asked;
  const least = (left: number, right = left) => Math.min(left, right);
  return {
    ...(network === undefined
      ? {}
      : {
          network: {
            ...network,
            maxRequestsPerSecond: least(network.maxRequestsPerSecond, bounds.network?.maxRequestsPerSecond),
            maxRequestBytes: least(network.maxRequestBytes, bounds.network?.maxRequestBytes),
          },
        }),
    ...(filesystem === undefined
      ? {}
      : {
          filesystem: {
            ...filesystem,
            maxFileBytes: least(filesystem.maxFileBytes, bounds.filesystem?.maxFileBytes),
            ...extensionsWithin(filesystem.extensions, bounds.filesystem?.extensions),
          },
        }),
    ...(mcp === undefined
      ? {}
      : {
          mcp: {
            ...mcp,
            maxCallsPerSecond: least(mcp.maxCallsPerSecond, bounds.mcp?.maxCallsPerSecond),
            ...(mcp.tools === undefined && bounds.mcp?.tools !== undefined ? { tools: bounds.mcp.tools } : {}),
          },
        }),
    // For the bounds that are looked at next.
    ...(system === undefined ? {} : { system }),
  };
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

function violatedFilesystem(asked: FilesystemCapability | undefined, bounds: FilesystemCapability | undefined) {
  if (asked === undefined) return undefined;
  const outside = asked.paths.find((path) => bounds?.paths.some((each) => coversPath(each, path)) !== true);
  if (outside !== undefined) return `filesystem:${outside}`;
  if (!asked.isReadOnly && bounds?.isReadOnly !== false && asked.paths[0] !== undefined)
    return `filesystem:${asked.paths[0]} for writing`;
  return undefined;
}

function violatedMcp(asked: McpCapability | undefined, bounds: McpCapability | undefined) {
  if (asked === undefined) return undefined;
  const outside = asked.servers.find((server) => !isCovered(server, bounds?.servers ?? []));
  if (outside !== undefined) return `mcp:${outside}`;
  const tool = asked.tools?.find((each) => bounds?.tools !== undefined && !isCovered(each, bounds.tools));
  return tool === undefined ? undefined : `mcp:${tool}`;
}

function violatedSystem(asked: readonly string[] = [], bounds: readonly string[] = []) {
  const outside = asked.find((name) => !bounds.includes(name));
  return outside === undefined ? undefined : `system:${outside}`;
}

/** A pattern is covered by one that matches it as text: `a*` by `*`, not `*` by `a*`. */
function isCovered(pattern: string, granted: readonly string[]): boolean {
  return granted.some((each) => matchesGlob(each, pattern));
}

function extensionsWithin(asked: readonly string[] | undefined, bounds: readonly string[] | undefined) {
  if (bounds === undefined) return asked === undefined ? {} : { extensions: asked };
  return { extensions: asked === undefined ? bounds : asked.filter((each) => bounds.includes(each)) };
}
