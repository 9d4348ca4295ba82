import type { JsonObject, JsonValue } from '../../domain/json.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { isObject } from '../schema/server-map.js';

/*
 * Converts entries of clients with their own form to the form that most clients share. Formats: zed.dev/docs/ai/mcp,
 * opencode.ai/docs/mcp-servers (and its v2), geminicli.com/docs/tools/mcp-server.
 */

/** Zed: `command` may be a map of path, args and env; a timeout is in seconds; an extension has only `settings`. */
export function fromZed(entry: JsonObject): JsonObject {
  const { source: _, remote: __, settings: ___, timeout, command, ...rest } = entry;
  const started = isObject(command)
    ? { command: command.path ?? null, args: command.args ?? null, env: command.env ?? null }
    : omitUndefined({ command });
  return { ...rest, ...started, ...(typeof timeout === 'number' ? { timeout: timeout * 1000 } : {}) };
}

/** OpenCode: `command` is the whole command line, `timeout` is for listing tools or a map, references are `{env:NAME}`. */
export function fromOpenCode(entry: JsonObject): JsonObject {
  const { type: _, command, timeout, ...rest } = entry;
  const [program, ...args] = Array.isArray(command) ? command : [command ?? null];
  const limits = isObject(timeout)
    ? { connectTimeout: timeout.startup ?? null, timeout: timeout.request ?? null }
    : { connectTimeout: timeout ?? null };
  const shared = { ...(program === null ? {} : { command: program, args }), ...rest, ...limits };
  return mapTexts(shared, (text) => text.replace(/\{env:([^}]+)\}/g, (_match, name: string) => `\${${name.trim()}}`));
}

/** Gemini CLI: `httpUrl` wins over `url`, and a reference may be written `$NAME`. */
export function fromGemini(entry: JsonObject): JsonObject {
  const { url, ...rest } = entry;
  const shared = rest.httpUrl === undefined && url !== undefined ? { ...rest, url } : rest;
  return mapTexts(shared, (text) => text.replace(/\$([A-Za-z_]\w*)/g, (_match, name: string) => `\${${name}}`));
}

/** The servers that Gemini CLI does not start: those in `mcp.excluded`, and those missing from `mcp.allowed`. */
export function isOffInGemini(name: string, settings: JsonValue | undefined): boolean {
  if (!isObject(settings)) return false;
  const { allowed, excluded } = settings;
  const isExcluded = Array.isArray(excluded) && excluded.includes(name);
  return isExcluded || (Array.isArray(allowed) && allowed.length > 0 && !allowed.includes(name));
}

function mapTexts(value: JsonObject, change: (text: string) => string): JsonObject {
  const walk = (node: JsonValue): JsonValue => {
    if (typeof node === 'string') return change(node);
    if (Array.isArray(node)) return node.map(walk);
    if (!isObject(node)) return node;
    return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, walk(child)]));
  };
  return walk(value) as JsonObject;
}
