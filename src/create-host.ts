import { readCapabilities } from './broker/capabilities/read.js';
import { compose } from './compose/compose.js';
import { codeModeOf } from './config/schema/code-mode.js';
import { configuredLimits } from './config/schema/schema.js';
import { isValidServerName } from './config/schema/server-schema.js';
import type { CapabilitySet } from './domain/capability.js';
import { HostError } from './domain/errors.js';
import type { IsolationLevel } from './domain/isolation.js';
import type { CallerId } from './domain/run.js';
import { omitUndefined } from './lib/omit-undefined.js';
import { parseRunRequest } from './profiles/codemode/contract.js';
import type { Profile } from './profiles/profile.js';
import { createProfile, executeSettings } from './profiles/registry.js';
import type { ExecuteSettings } from './profiles/unified/execute.js';
import { createUnifiedProfile } from './profiles/unified/profile.js';
import { CodemodeHost } from './surfaces/library/codemode-host.js';
import type { UnifiedTool } from './surfaces/library/protocol-adapter.js';
import { readTools } from './surfaces/library/read-tools.js';
import { type FunctionTool, nativeTool, type TypedTool } from './upstream/native/function-tools.js';
import { NativeUpstream } from './upstream/native/native-upstream.js';

/** Functions of your own as one server: by tool name, or as an adapter lists them. */
export type ServerTools = Readonly<Record<string, FunctionTool>> | ToolServer | readonly UnifiedTool[];

/** Tools together with their source, as `fromLangChain` returns them. */
export interface ToolServer {
  readonly source: 'native' | 'langchain';
  readonly tools: Readonly<Record<string, FunctionTool>>;
}

export interface CreateHostOptions {
  /** The configuration itself, as it would be in `codemode.config.yaml`. No file is read if it is given. */
  readonly config?: Readonly<Record<string, unknown>>;
  /**
   * A configuration file. Without it and without `config` the usual places are searched. A `codemode.config.*` in the current
   * folder is used only if the user has agreed to `codemode trust` for it.
   */
  readonly configFile?: string;
  /** Functions of your own, by the name of the server that programs import them from. */
  readonly tools?: Readonly<Record<string, ServerTools>>;
  /** How programs are isolated from the machine. An isolation level that is unavailable is an error. */
  readonly isolation?: IsolationLevel;
}

/**
 * codemode inside your own program. Resolves when programs can run and every server was asked for its tools (for at most 10 s).
 * Throws `bad_config`, `untrusted_config`, `bad_input` and `jail_unavailable`.
 */
export async function createHost(options: CreateHostOptions = {}): Promise<CodemodeHost> {
  const { config: inline, configFile, tools = {}, isolation } = options;
  if (inline !== undefined && configFile !== undefined)
    throw new HostError('bad_input', 'createHost takes config or configFile, not both');
  const adapters = Object.entries(tools).map(([name, server]) => upstreamOf(name, server));
  const { host, servers, config, warnings } = await compose(
    { ...omitUndefined({ configFile, isolation }) },
    { adapters, ...omitUndefined({ config: inline }) },
  );
  const profile = createProfile({ ...config, profile: 'codemode' });
  const [{ CallLimits }, { limitsOf }] = await Promise.all([
    import('./broker/limits/call-limits.js'),
    import('./compose/runtime.js'),
  ]);
  const limits = new CallLimits(limitsOf(config));
  const settings: ExecuteSettings = {
    ...executeSettings(config),
    isServer: (name) => servers.describe(name) !== undefined,
  };
  const unified = createUnifiedProfile(settings);
  const sessionOf = (
    { name, presentation, checkedLibrary, checksBodies }: Profile,
    caller: CallerId,
    bounds?: CapabilitySet,
  ) =>
    host.openSession({
      caller,
      ...omitUndefined({ bounds }),
      profile: name,
      presentation,
      codeMode: codeModeOf(config),
      reservedNames: [],
      ...omitUndefined({ checkedLibrary, checksBodies }),
      // A library caller receives the whole result.
      maxResultBytes: Number.POSITIVE_INFINITY,
    });
  const library = new CodemodeHost({
    core: host,
    servers,
    profile,
    warnings,
    rateOf: (tool, caller) => limits.rateOf({ tool: tool.tool, serverPath: tool.server.path, caller }),
    parseRequest: (request) => parseRunRequest(request, configuredLimits(config)),
    addTools: (name, added) => servers.addAdapter(upstreamOf(name, added as ServerTools)),
    openSession: (caller) => sessionOf(profile, caller),
    ...(config.profile === unified.name
      ? {
          calls: {
            presentation: unified.presentation,
            openSession: (caller) => sessionOf(unified, caller, settings.bounds),
          },
        }
      : {}),
    unified: {
      settings,
      openSession: (caller, bounds) => sessionOf(unified, caller, bounds),
      readCapabilities: (value) => readCapabilities(value, settings.isServer),
    },
  });
  await library.ready();
  return library;
}

/** A tool whose `execute` is typed by its schema: `defineTool({ input: z.object({ city: z.string() }), ... })`. */
export function defineTool<Input>(tool: TypedTool<Input>): FunctionTool {
  return tool as unknown as FunctionTool;
}

function upstreamOf(name: string, server: ServerTools): NativeUpstream {
  if (!isValidServerName(name))
    throw new HostError(
      'bad_input',
      `${JSON.stringify(name)} cannot be the name of a server: no slashes, at most 128 letters`,
    );
  const given = readTools(name, server) as Exclude<ServerTools, readonly UnifiedTool[]>;
  const { source, tools } = isToolServer(given) ? given : { source: 'native' as const, tools: given };
  const entries = Object.entries(tools).map(([toolName, tool]) => [toolName, nativeTool(toolName, tool)] as const);
  return new NativeUpstream(name, new Map(entries), source);
}

function isToolServer(server: Exclude<ServerTools, readonly UnifiedTool[]>): server is ToolServer {
  return typeof (server as ToolServer).source === 'string';
}
