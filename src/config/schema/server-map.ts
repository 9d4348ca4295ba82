import type { JsonObject, JsonValue } from '../../domain/json.js';
import { type KeyPath, renderPath } from '../files/path.js';

/** Data in the one form that the schema expects, and the way back to the place where each value was written. */
export interface Shaped {
  readonly value: JsonValue;
  originalPath(path: KeyPath): KeyPath;
  /** `server`: the faulty entry, by its name or its place; absent if the mistake is outside every entry. */
  readonly problems: readonly { readonly path: KeyPath; readonly problem: string; readonly server?: string }[];
}

/**
 * Converts the possible forms of servers to one: `mcpServers` as a map, as a list with names inside, and `mcp.servers`. A policy
 * that is a list of rules becomes a map with these rules.
 */
export function shapeServers(value: JsonValue): Shaped {
  if (!isObject(value)) return { value, originalPath: (path) => path, problems: [] };
  const origins = new Map<string, KeyPath>();
  const problems: { path: KeyPath; problem: string; server?: string }[] = [];
  const servers = new Map<string, JsonValue>();

  const take = (name: string, server: JsonValue, path: KeyPath): void => {
    if (servers.has(name))
      problems.push({
        path,
        problem: `a second server is called ${JSON.stringify(name)}; rename one of them`,
        server: name,
      });
    servers.set(name, server);
    origins.set(name, path);
  };
  const takeAll = (entries: JsonValue, path: KeyPath): void => {
    if (Array.isArray(entries)) {
      for (const [index, entry] of entries.entries()) {
        const at = [...path, index];
        if (!isObject(entry))
          problems.push({
            path: at,
            problem: 'expected a server: a map with a name and a command or url',
            server: renderPath(at),
          });
        else if (typeof entry.name !== 'string')
          problems.push({ path: at, problem: 'expected a name for this server', server: renderPath(at) });
        else {
          const { name, ...server } = entry;
          take(name as string, server, at);
        }
      }
    } else if (isObject(entries)) {
      for (const [name, server] of Object.entries(entries)) take(name, server, [...path, name]);
    } else if (entries !== null) {
      problems.push({ path, problem: 'expected servers: a map by name, or a list with names' });
    }
  };

  const { mcpServers, mcp, policy, ...rest } = value;
  if (mcpServers !== undefined) takeAll(mcpServers, ['mcpServers']);
  const shaped: JsonObject = { ...rest };
  const isRuleList = Array.isArray(policy);
  if (policy !== undefined) shaped.policy = isRuleList ? { rules: policy } : policy;
  if (isObject(mcp)) {
    const { servers: inner, ...unknown } = mcp;
    if (inner !== undefined) takeAll(inner, ['mcp', 'servers']);
    for (const key of Object.keys(unknown))
      problems.push({ path: ['mcp', key], problem: `unknown key; mcp has only servers` });
  } else if (mcp !== undefined && mcp !== null) {
    problems.push({ path: ['mcp'], problem: 'expected a map with servers' });
  }
  if (servers.size > 0) shaped.mcpServers = Object.fromEntries(servers);

  const originalPath = (path: KeyPath): KeyPath => {
    const [top, name, ...inner] = path;
    if (isRuleList && top === 'policy' && name === 'rules') return ['policy', ...inner];
    const origin = top === 'mcpServers' && typeof name === 'string' ? origins.get(name) : undefined;
    return origin === undefined ? path : [...origin, ...inner];
  };
  return { value: shaped, originalPath, problems };
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
