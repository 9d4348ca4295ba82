import { createSearchIndex } from '../../catalog/search.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { CallReply } from '../../domain/run.js';
import type { ScriptHead } from '../../domain/script.js';
import type { Tool } from '../../domain/tool.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { TOOL_DETAILS, type ToolDetail, toolDefinition } from '../tools/tool-definition.js';
import { scriptFunctions } from './script-functions.js';
import { SCRIPTS_SPECIFIER } from './scripts-module.js';

/** The most scripts in a tool search: a user has few of them. */
const MAX_BESIDE_TOOLS = 3;
const MAX_HITS = 100;

/** A script as a tool of the module that exports it. */
export function scriptAsTool({ name, description, inputSchema, outputSchema }: ScriptHead): Tool {
  return {
    serverId: SCRIPTS_SPECIFIER,
    name,
    description,
    ...omitUndefined({ inputSchema, outputSchema }),
  };
}

/** Whether a search is about scripts alone: `searchTools(query, { serverId: '@codemode/scripts' })`. */
export function isAboutScripts([, options]: readonly JsonValue[]): boolean {
  return isJsonObject(options) && options.serverId === SCRIPTS_SPECIFIER;
}

/** The answer of `searchTools`, followed by the scripts that match the query. */
export function withScripts(
  reply: CallReply,
  [query, options]: readonly JsonValue[],
  scripts: readonly ScriptHead[],
): CallReply {
  if (!reply.ok || typeof query !== 'string' || scripts.length === 0) return reply;
  const answer = JSON.parse(String(reply.json)) as { results: JsonObject[] };
  const given = isJsonObject(options) ? options : {};
  if (given.serverId !== undefined && given.serverId !== SCRIPTS_SPECIFIER) return reply;
  const most = given.serverId === undefined ? MAX_BESIDE_TOOLS : MAX_HITS;
  const detail = TOOL_DETAILS.find((each) => each === given.detail) ?? 'description';
  const found = search(query, scripts, { most, detail });
  return { ok: true, json: JSON.stringify({ ...answer, results: [...answer.results, ...found] }) };
}

function search(
  query: string,
  scripts: readonly ScriptHead[],
  { most, detail }: { readonly most: number; readonly detail: ToolDetail },
): JsonObject[] {
  const functions = scriptFunctions(scripts);
  const callable = scripts.filter(({ name }) => functions.has(name));
  const index = createSearchIndex(callable.map((script) => ({ tool: scriptAsTool(script) })));
  return index.search(query, { limit: most }).map(({ tool }) => {
    const exportName = functions.get(tool.name) as string;
    return { serverId: SCRIPTS_SPECIFIER, module: SCRIPTS_SPECIFIER, ...toolDefinition({ tool, exportName }, detail) };
  });
}
