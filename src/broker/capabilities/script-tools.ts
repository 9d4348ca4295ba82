import type { JsonObject } from '../../domain/json.js';
import type { Tool } from '../../domain/tool.js';
import { type NativeTool, NativeUpstream } from '../../upstream/native/native-upstream.js';
import type { UpstreamRegistry } from '../../upstream/registry.js';
import type { CapabilityTool } from './capability-tools.js';

/** No user's server can have a slash in its name. In the policy this server is `@codemode/scripts`. */
export const SCRIPTS_SERVER = 'codemode/scripts';
const PATH = '@codemode/scripts';

/** Stores a script that a program saves. An error that it throws reaches the program. */
export type SaveScript = (script: JsonObject) => Promise<JsonObject>;

const DESCRIBED = {
  save: {
    description: 'Stores a program as a script that agents can run by its name from then on.',
    annotations: { destructiveHint: true },
  },
  run_changed: {
    description: 'Runs a stored script although tools that it calls have changed since it was stored.',
    annotations: { destructiveHint: true },
  },
} satisfies Readonly<Record<string, Omit<NativeTool, 'execute'>>>;

/** Operations on stored scripts that need a decision, as calls that pass through the broker. By default a person is asked. */
export const SCRIPT_TOOLS: Readonly<Record<keyof typeof DESCRIBED, CapabilityTool>> = {
  save: toolOf('save'),
  run_changed: toolOf('run_changed'),
};

function toolOf(name: keyof typeof DESCRIBED): CapabilityTool {
  const tool: Tool = { serverId: SCRIPTS_SERVER, name, ...DESCRIBED[name] };
  return { tool, server: { path: PATH }, exportName: name };
}

export function registerScriptTools(registry: UpstreamRegistry, save: SaveScript): void {
  const tools = new Map<string, NativeTool>([
    ['save', { ...DESCRIBED.save, execute: (script) => save(script) }],
    // The call only decides whether the script may be run. The host runs it.
    ['run_changed', { ...DESCRIBED.run_changed, execute: () => ({}) }],
  ]);
  registry.addHidden(new NativeUpstream(SCRIPTS_SERVER, tools));
}
