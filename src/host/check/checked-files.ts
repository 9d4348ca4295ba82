import { declareCheckedFile, type ObservedTypeOf } from '../../catalog/declarations/typescript/typescript.js';
import type { Namespace } from '../../catalog/namespaces.js';
import { type CatalogServer, type CatalogSnapshot, isUnavailable } from '../../catalog/snapshot.js';
import type { JsonObject } from '../../domain/json.js';
import type { ScriptHead } from '../../domain/script.js';
import type { Tool } from '../../domain/tool.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { CheckedFiles } from '../../sandbox/checker/project-files.js';
import { functionOf, serverOfModule } from '../processes/process-packages.js';
import { scriptFunctions } from '../scripts/script-functions.js';
import { SCRIPTS_SPECIFIER } from '../scripts/scripts-module.js';
import { scriptAsTool } from '../scripts/search-scripts.js';
import { API, type NamedFunction, NODE } from './imported-names.js';

/** What a program may import, as its caller sees it. */
export interface CheckedView {
  readonly snapshot: CatalogSnapshot;
  /** Declarations of the modules that every program of the contract has. */
  readonly library: string;
  /** Observed result types of tools that declare no output. */
  readonly observedTypeOf?: ObservedTypeOf | undefined;
  /** The stored scripts that the program may run, if it imports any. */
  readonly scripts: readonly ScriptHead[];
  /** The namespaces that a function body of contract `unified` names; absent for a module. */
  readonly namespaces?: readonly Namespace[];
}

/**
 * The declarations that a caller's programs are checked against. Each server's declarations are written when a program first
 * imports it, and again when its tools or their observed types change. They contain nothing that the caller does not see.
 */
export function checkedFilesOf(view: CheckedView): CheckedFiles {
  const { snapshot, library, observedTypeOf, scripts, namespaces } = view;
  return {
    globals: `${globalsOf(snapshot, library)}${namespaces === undefined ? '' : apiGlobals(namespaces)}`,
    module: (name) => {
      const namespace = namespaces?.find((each) => name === `${API}${each.name}`);
      if (namespace !== undefined) return textOf(namespace.server, observedTypeOf, methodNames(namespace));
      if (name === SCRIPTS) return scriptsText(scripts);
      if (name.startsWith(NODE)) return nodeText(serverOfModule(name.slice(NODE.length), snapshot));
      const server = name.startsWith(SERVERS) ? snapshot.serverByPath.get(name.slice(SERVERS.length)) : undefined;
      return server === undefined || isUnavailable(server) ? undefined : textOf(server, observedTypeOf);
    },
  };
}

/** The input schema of a function that a program names; undefined if there is none, or the function does not exist. */
export function inputSchemaOf(view: CheckedView, { module, name }: NamedFunction): JsonObject | undefined {
  const { snapshot, scripts, namespaces } = view;
  if (module === SCRIPTS) {
    const functions = scriptFunctions(scripts);
    const script = scripts.find((each) => functions.get(each.name) === name);
    return script && scriptAsTool(script).inputSchema;
  }
  if (module.startsWith(API)) {
    const methods = namespaces?.find((each) => module === `${API}${each.name}`)?.methods;
    return methods?.find((method) => method.name === name)?.tool.tool.inputSchema;
  }
  if (module.startsWith(NODE)) {
    const tools = serverOfModule(module.slice(NODE.length), snapshot)?.tools;
    return tools?.find((tool) => functionOf(tool, 'node') === name)?.tool.inputSchema;
  }
  const tools = snapshot.serverByPath.get(module.slice(SERVERS.length))?.tools;
  return tools?.find(({ exportName }) => exportName === name)?.tool.inputSchema;
}

const SERVERS = 'servers/';
const SCRIPTS = SCRIPTS_SPECIFIER.slice('@codemode/'.length);
/** Cached texts for one server's tools: observed types differ between callers. */
const MAX_TEXTS = 4;
const texts = new WeakMap<CatalogServer['tools'], Map<string, string>>();
const globals = new WeakMap<CatalogSnapshot, { readonly library: string; readonly text: string }>();

function globalsOf(snapshot: CatalogSnapshot, library: string): string {
  const known = globals.get(snapshot);
  if (known?.library === library) return known.text;
  const unknown = snapshot.servers.filter(isUnavailable).map(({ path }) => anyModule(`@codemode/servers/${path}`));
  const text = `${GLOBALS}${library}${anyModule('@codemode/input')}${unknown.join('')}`;
  globals.set(snapshot, { library, text });
  return text;
}

/** If a server's tools are unknown, every import from it type-checks. */
function anyModule(specifier: string): string {
  return `declare module ${JSON.stringify(specifier)};\n`;
}

/** Globals that the sandbox has and the language does not. Their types are not worth checking. */
const GLOBALS = [
  ...['console', 'URL', 'URLSearchParams', 'TextEncoder', 'TextDecoder', 'setTimeout', 'clearTimeout', 'fetch'],
  ...['structuredClone', 'queueMicrotask', 'atob', 'btoa', 'DOMException'],
]
  .map((name) => `declare var ${name}: any;\n`)
  .join('');

/** Namespaces that a body does not name, and those that cannot be declared by name, have type any. */
function apiGlobals(namespaces: readonly Namespace[]): string {
  const members = namespaces.map(({ name }) => `${name}: typeof import("@codemode/${API}${name}"); `).join('');
  return `declare const mcp: { ${members}[name: string]: any };\n${BODY_GLOBALS}`;
}

const BODY_GLOBALS = ['context', 'fs', 'parse'].map((name) => `declare var ${name}: any;\n`).join('');

function methodNames({ methods }: Namespace): ReadonlyMap<string, string> {
  return new Map(methods.map(({ name, tool }) => [tool.tool.name, name]));
}

function textOf(
  server: CatalogServer,
  observedTypeOf: ObservedTypeOf | undefined,
  names: ReadonlyMap<string, string> = functionNames(server),
): string {
  const known = texts.get(server.tools) ?? new Map<string, string>();
  texts.set(server.tools, known);
  const seen = observedTypeOf === undefined ? [] : server.tools.map(({ tool }) => observedTypeOf(tool) ?? '');
  const key = [...names.values(), ...seen].join('\n');
  const made = known.get(key) ?? declared(server, observedTypeOf, names);
  if (!known.has(key) && known.size >= MAX_TEXTS) known.clear();
  known.set(key, made);
  return made;
}

function functionNames({ tools }: CatalogServer): ReadonlyMap<string, string> {
  return new Map(tools.map(({ tool, exportName }) => [tool.name, exportName]));
}

function declared(
  server: CatalogServer,
  observedTypeOf: ObservedTypeOf | undefined,
  exportNames: ReadonlyMap<string, string>,
): string {
  const module = {
    path: server.path,
    serverId: server.id,
    serverName: server.name,
    tools: server.tools.map(({ tool }) => (server.holdsScripts === true ? withoutOutput(tool) : tool)),
    exportNames,
  };
  return declareCheckedFile(module, omitUndefined({ observedTypeOf })).text;
}

/** Functions of Node programs return the whole MCP result, of which anything may be read. */
function nodeText(server: CatalogServer | undefined): string | undefined {
  if (server === undefined || isUnavailable(server)) return undefined;
  const known = nodeTexts.get(server.tools);
  if (known !== undefined) return known;
  const tools = server.tools.map(({ tool }) => withoutOutput(tool));
  const exportNames = new Map(server.tools.map((tool) => [tool.tool.name, functionOf(tool, 'node')]));
  const { id, name, path } = server;
  const { text } = declareCheckedFile({ path, serverId: id, serverName: name, tools, exportNames });
  nodeTexts.set(server.tools, text);
  return text;
}

const nodeTexts = new WeakMap<CatalogServer['tools'], string>();

/** A script's output schema describes one run and is not binding, so its result may be anything. */
function withoutOutput({ outputSchema: _, ...tool }: Tool): Tool {
  return tool;
}

/** The functions of stored scripts as a module for editors: whatever passes here passes the check before a run. */
export function scriptsModule(scripts: readonly ScriptHead[]): string {
  const text = functionsOfScripts(scripts).replace(/^export declare /gm, 'export ');
  return `declare module ${JSON.stringify(SCRIPTS_SPECIFIER)} {\n${text}}\n`;
}

function scriptsText(scripts: readonly ScriptHead[]): string {
  return `${functionsOfScripts(scripts)}${OWN_SCRIPT_FUNCTIONS}`;
}

function functionsOfScripts(scripts: readonly ScriptHead[]): string {
  const exportNames = scriptFunctions(scripts);
  const tools = scripts
    .filter(({ name }) => exportNames.has(name))
    .map((script) => withoutOutput(scriptAsTool(script)));
  const { text } = declareCheckedFile({
    path: SCRIPTS,
    serverId: SCRIPTS_SPECIFIER,
    serverName: SCRIPTS_SPECIFIER,
    tools,
    exportNames,
  });
  return text;
}

const OWN_SCRIPT_FUNCTIONS = ['listScripts', 'runScript', 'save']
  .map((name) => `export declare function ${name}(...values: any[]): Promise<any>;\n`)
  .join('');
