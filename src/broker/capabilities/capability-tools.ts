import type { Tool } from '../../domain/tool.js';
import { FILES_SERVER, fileTools } from '../../upstream/capabilities/files.js';
import { fetchTool, NETWORK_SERVER } from '../../upstream/capabilities/network.js';
import { type NativeTool, NativeUpstream } from '../../upstream/native/native-upstream.js';
import type { UpstreamRegistry } from '../../upstream/registry.js';

/** A built-in tool, with the target that programs call it by. Built-in tools are in no catalog. */
export interface CapabilityTool {
  readonly tool: Tool;
  readonly server: { readonly path: string };
  readonly exportName: string;
}

const SERVERS: readonly (readonly [id: string, path: string, tools: Readonly<Record<string, NativeTool>>])[] = [
  [NETWORK_SERVER, 'network', { fetch: fetchTool }],
  [FILES_SERVER, 'fs', fileTools],
];

/** Network requests and file access, as calls that pass through the broker like any other. */
export const CAPABILITY_TOOLS: ReadonlyMap<string, CapabilityTool> = new Map(
  SERVERS.flatMap(([serverId, path, tools]) =>
    Object.entries(tools).map(([name, { execute: _, ...described }]): [string, CapabilityTool] => [
      `${serverId}/${name}`,
      { tool: { serverId, name, ...described }, server: { path }, exportName: name },
    ]),
  ),
);

export function registerCapabilities(registry: UpstreamRegistry): void {
  for (const [id, , tools] of SERVERS) registry.addHidden(new NativeUpstream(id, new Map(Object.entries(tools))));
}
