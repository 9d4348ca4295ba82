import { isServerGranted, isToolGranted } from '../../broker/capabilities/run-grants.js';
import { methodOf, namespacesOf } from '../../catalog/namespaces.js';
import type { CatalogServer, CatalogSnapshot, CatalogTool } from '../../catalog/snapshot.js';
import { needsOf } from '../../domain/profile-name.js';
import type { Outcome } from '../../domain/run.js';
import type { CalleeContext } from './missing-function.js';

/** The engine's message for a name that nothing declares. */
const NOT_DEFINED = /^'?([A-Za-z_$][\w$]{0,127})'? is not defined$/;
const MAX_TOLD = 3;

/** Functions and classes of the modules that every program can import. */
const LIBRARY: ReadonlyMap<string, string> = new Map(
  Object.entries({
    discovery: ['searchTools', 'listTools', 'getTool', 'getTypes', 'listServers', 'describeServer'],
    errors: [
      ...['CodemodeError', 'SchemaValidationError', 'ToolNotFoundError', 'ServerNotFoundError'],
      ...['ToolCallError', 'AuthenticationError', 'SandboxLimitError'],
    ],
    text: ['parse'],
    results: ['load', 'wait'],
  }).flatMap(([module, names]) => names.map((name) => [name, `@codemode/${module}`] as const)),
);

/** A server, a tool or a library function that the program uses without its import: the hint is the line to write. */
export function withForgottenImport(
  outcome: Outcome,
  snapshot: CatalogSnapshot,
  { profile, grants }: CalleeContext,
): Outcome {
  if (outcome.status !== 'failed' || outcome.failure.hint !== undefined) return outcome;
  const { failure } = outcome;
  const name = failure.kind === 'exception' ? NOT_DEFINED.exec(failure.message)?.[1] : undefined;
  if (name === undefined) return outcome;
  // A caller must not learn of servers and tools that it is not granted.
  const servers = snapshot.servers.filter(({ id }) => grants === undefined || isServerGranted(id, grants.mcp));
  const server = servers.find((each) => each.path === name || each.id === name);
  const tools = servers
    .flatMap((each) => each.tools)
    .filter(({ exportName, tool }) => exportName === name || tool.name === name)
    .filter(({ tool }) => grants === undefined || isToolGranted(tool, grants.mcp));
  const written = WRITTEN[needsOf(profile).program];
  const hint = server === undefined ? written?.tools(name, tools, snapshot) : written?.server(server, snapshot);
  return hint === undefined ? outcome : { ...outcome, failure: { ...failure, hint } };
}

interface Written {
  server(server: CatalogServer, snapshot: CatalogSnapshot): string;
  /** Undefined if no tool has the name, and the library has nothing of it. */
  tools(name: string, tools: readonly CatalogTool[], snapshot: CatalogSnapshot): string | undefined;
}

const WRITTEN: Readonly<Partial<Record<ReturnType<typeof needsOf>['program'], Written>>> = {
  module: {
    server: ({ path }) => `Write: import * as ${path} from '@codemode/servers/${path}';`,
    tools: (name, tools) => {
      const library = LIBRARY.get(name);
      const from = library === undefined ? tools.map(({ server }) => `@codemode/servers/${server.path}`) : [library];
      const named = tools.length === 0 ? name : (tools[0] as CatalogTool).exportName;
      return anyOf(from.map((specifier) => `import { ${named} } from '${specifier}';`));
    },
  },
  body: {
    server: (server, snapshot) =>
      `Use mcp.${namespacesOf(snapshot).find((each) => each.server === server)?.name ?? server.path} instead.`,
    tools: (_, tools, snapshot) => {
      const calls = tools.map((tool) => methodOf(tool, snapshot));
      return anyOf(calls.map(({ namespace, method }) => `await mcp.${namespace}.${method}({ ... })`));
    },
  },
  script: {
    server: ({ id }) => `Write: call_tool(${JSON.stringify(id)}, 'tool', { ... })`,
    tools: (_, tools) =>
      anyOf(
        tools.map(
          ({ server, tool }) => `call_tool(${JSON.stringify(server.id)}, ${JSON.stringify(tool.name)}, { ... })`,
        ),
      ),
  },
};

function anyOf(lines: readonly string[]): string | undefined {
  if (lines.length === 0) return undefined;
  const more = lines.length > MAX_TOLD ? ', ...' : '';
  return `Write: ${lines.slice(0, MAX_TOLD).join(' or ')}${more}`;
}
