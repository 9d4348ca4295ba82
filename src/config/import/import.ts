import { basename, dirname } from 'node:path';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import { type KeyPath, renderPath } from '../files/path.js';
import { isObject, type Shaped } from '../schema/server-map.js';
import { fromGemini, fromOpenCode, fromZed, isOffInGemini } from './client-entries.js';

/** Files of other programs that list MCP servers. */
export type ForeignFormat = 'claude' | 'vscode' | 'codex' | 'mcpproxy' | 'gemini' | 'opencode' | 'zed';

export interface Imported extends Shaped {
  readonly format: ForeignFormat;
  /** The settings that were left out or changed. Never a reason to stop: the file belongs to another program. */
  readonly warnings: readonly string[];
}

const CLAUDE_FILES = new Set(['claude_desktop_config.json', '.claude.json', '.mcp.json']);
const WINDSURF_FOLDERS = new Set(['windsurf', '.codeium', '.windsurf']);
const MCPPROXY_KEYS = [
  'enable_code_execution',
  'listen',
  'data_dir',
  'tools_limit',
  'api_key',
  'code_execution_timeout_ms',
];
/** Keys of a server entry that have the same name and meaning here. */
const SAME_KEYS = [
  'command',
  'args',
  'env',
  'cwd',
  'url',
  'headers',
  'type',
  'transport',
  'timeout',
  'disabled',
  'enabled',
  'description',
];

/** Fields that another client keeps in an entry for its own use. */
const NOTES = ['created', 'updated', 'alwaysLoad'];

/** All their values are text. Other programs also accept `PORT: 3000`. */
const TEXT_KEYS = ['args', 'env', 'headers'];

/** The format of a file, detected by its name and content; undefined for our own. */
export function detectFormat(file: string, value: JsonValue): ForeignFormat | undefined {
  const name = basename(file);
  if (name.endsWith('.toml')) return 'codex';
  if (!isObject(value)) return undefined;
  if (isObject(value.mcp) && (/^opencode\.jsonc?$/.test(name) || hasOpenCodeEntries(value.mcp))) return 'opencode';
  if (name === 'settings.json' && isObject(value.context_servers)) return 'zed';
  if (name === 'settings.json' && isObject(value.mcpServers)) return 'gemini';
  // Windsurf's file has the same name as mcpproxy's.
  if (name === 'mcp_config.json' && WINDSURF_FOLDERS.has(basename(dirname(file)))) return 'claude';
  if (MCPPROXY_KEYS.some((key) => Object.hasOwn(value, key)) || name === 'mcp_config.json') return 'mcpproxy';
  if (CLAUDE_FILES.has(name)) return 'claude';
  // `servers` at the top, or `mcp.servers` in an editor's settings: never a key of ours with `inputs` beside it.
  if (isObject(value.servers) && value.mcpServers === undefined) return 'vscode';
  if (name === 'settings.json' && isObject(value.mcp)) return 'vscode';
  if (name === 'mcp.json' && isObject(value.mcpServers)) return 'claude';
  return undefined;
}

/** Only OpenCode has the server types `local` and `remote`. */
function hasOpenCodeEntries(mcp: JsonObject): boolean {
  return Object.values(mcp).some((entry) => isObject(entry) && (entry.type === 'local' || entry.type === 'remote'));
}

/** Converts another program's file to our form. */
export function importForeign(value: JsonValue, format: ForeignFormat): Imported {
  const translation = new Translation(format);
  const root = isObject(value) ? value : {};
  switch (format) {
    case 'claude':
      translation.takeMap(root.mcpServers, ['mcpServers']);
      break;
    case 'vscode': {
      const inner = isObject(root.servers) ? root : isObject(root.mcp) ? root.mcp : {};
      translation.takeMap(inner.servers, inner === root ? ['servers'] : ['mcp', 'servers']);
      break;
    }
    case 'codex':
      translation.takeMap(root.mcp_servers, ['mcp_servers']);
      break;
    case 'mcpproxy':
      translation.takeProxySettings(root);
      break;
    case 'gemini':
      translation.takeMap(root.mcpServers, ['mcpServers'], (entry, name) =>
        isOffInGemini(name, root.mcp) ? { ...fromGemini(entry), disabled: true } : fromGemini(entry),
      );
      break;
    case 'zed':
      translation.takeMap(root.context_servers, ['context_servers'], fromZed);
      break;
    case 'opencode': {
      // Version 2 nests them one level deeper.
      const mcp = isObject(root.mcp) ? root.mcp : {};
      const isNewer = isObject(mcp.servers) && mcp.servers.type === undefined;
      translation.takeMap(isNewer ? mcp.servers : root.mcp, isNewer ? ['mcp', 'servers'] : ['mcp'], fromOpenCode);
      break;
    }
  }
  return translation.finish();
}

/** Converts an entry of one client to the form that most clients share. */
type SharedForm = (entry: JsonObject, name: string) => JsonObject;

class Translation {
  readonly #format: ForeignFormat;
  readonly #servers: JsonObject = {};
  readonly #origins = new Map<string, KeyPath>();
  readonly #warnings: string[] = [];
  readonly #settings: JsonObject = {};

  constructor(format: ForeignFormat) {
    this.#format = format;
  }

  takeMap(servers: JsonValue | undefined, path: KeyPath, shared: SharedForm = (entry) => entry): void {
    if (isObject(servers))
      for (const [name, entry] of Object.entries(servers))
        this.#take(name, isObject(entry) ? shared(entry, name) : entry, [...path, name]);
    else if (servers !== undefined) this.#warn(path, 'is not a map of servers and was left out');
  }

  /** mcpproxy: a list of servers, and the settings of its `code_execution` tool at the top level. */
  takeProxySettings(root: JsonObject): void {
    if (Array.isArray(root.mcpServers)) {
      for (const [index, entry] of root.mcpServers.entries()) {
        const path = ['mcpServers', index];
        if (isObject(entry) && typeof entry.name === 'string') this.#take(entry.name, entry, path);
        else this.#warn(path, 'has no name and was left out');
      }
    } else {
      this.takeMap(root.mcpServers, ['mcpServers']);
    }
    const codeExecution: JsonObject = { enabled: root.enable_code_execution ?? false };
    if (root.code_execution_timeout_ms !== undefined) codeExecution.timeout = root.code_execution_timeout_ms;
    if (root.code_execution_max_tool_calls !== undefined)
      codeExecution.maxToolCalls = root.code_execution_max_tool_calls;
    if (root.code_execution_pool_size !== undefined) codeExecution.poolSize = root.code_execution_pool_size;
    this.#settings.codeExecution = codeExecution;
    this.#settings.profile = 'code_execution';
  }

  finish(): Imported {
    const value: JsonObject = { ...this.#settings, mcpServers: this.#servers };
    const foreignKeys: Record<string, string> = {
      enabled: 'enable_code_execution',
      timeout: 'code_execution_timeout_ms',
      maxToolCalls: 'code_execution_max_tool_calls',
      poolSize: 'code_execution_pool_size',
    };
    const originalPath = (path: KeyPath): KeyPath => {
      const [top, name, ...inner] = path;
      if (top === 'codeExecution' && typeof name === 'string') return [foreignKeys[name] ?? name];
      const origin = top === 'mcpServers' && typeof name === 'string' ? this.#origins.get(name) : undefined;
      return origin === undefined ? path : [...origin, ...inner];
    };
    return { format: this.#format, value, originalPath, problems: [], warnings: this.#warnings };
  }

  #take(name: string, entry: JsonValue, path: KeyPath): void {
    const server = isObject(entry) ? this.#translated(entry, path) : {};
    if (typeof server.command !== 'string' && typeof server.url !== 'string') {
      this.#warn(
        path,
        isObject(entry) ? 'has neither command nor url and was left out' : 'is not a server and was left out',
      );
      return;
    }
    // Some files have both. The one that the transport names is meant, or the command if none is named.
    if (server.command !== undefined && server.url !== undefined) {
      const isRemote = typeof server.type === 'string' && server.type !== 'stdio';
      delete server[isRemote ? 'command' : 'url'];
    }
    this.#servers[name] = this.#withOurReferences(server, path) as JsonObject;
    this.#origins.set(name, path);
  }

  #translated(entry: JsonObject, path: KeyPath): JsonObject {
    const server: JsonObject = {};
    for (const [key, value] of Object.entries(entry)) {
      const isUnset = value === null || (value === '' && (key === 'command' || key === 'url'));
      if (key === 'name' || isUnset) continue;
      if (key === 'enabled' && server.enabled === false) continue;
      if (SAME_KEYS.includes(key)) server[key] = TEXT_KEYS.includes(key) ? this.#texts(value) : value;
      else this.#translate(server, key, value, [...path, key]);
    }
    return server;
  }

  #translate(server: JsonObject, key: string, value: JsonValue, path: KeyPath): void {
    const seconds = typeof value === 'number' ? Math.round(value * 1000) : undefined;
    if (NOTES.includes(key)) return;
    if (key === 'quarantined') {
      // The user has not approved it there, so it is not enabled here.
      if (value === false) return;
      server.enabled = false;
      this.#warn(path, 'is set, so the server stays disabled');
    } else if (key === 'environment') server.env = this.#texts(value);
    else if (key === 'working_dir' || key === 'workingDir') server.cwd = value;
    else if (key === 'protocol') {
      if (value !== 'auto') server.type = value;
    } else if (key === 'httpUrl' || key === 'serverUrl') server.url = value;
    else if (key === 'http_headers' || key === 'httpHeaders')
      server.headers = { ...this.#headers(server), ...this.#stringMap(value) };
    else if (key === 'env_http_headers') {
      const references = Object.entries(this.#stringMap(value)).map(([name, variable]) => [name, `\${${variable}}`]);
      server.headers = { ...this.#headers(server), ...Object.fromEntries(references) };
    } else if (key === 'bearer_token_env_var' && typeof value === 'string') {
      server.headers = { ...this.#headers(server), Authorization: `Bearer \${${value}}` };
    } else if (key === 'startup_timeout_sec' && seconds !== undefined) server.connectTimeout = seconds;
    else if (key === 'startup_timeout_ms') server.connectTimeout = value;
    else if (key === 'connectTimeout') server.connectTimeout = value;
    else if (key === 'env_vars' && isTextList(value)) server.inheritEnv = value;
    else if (key === 'tool_timeout_sec' && seconds !== undefined) server.timeout = seconds;
    else this.#warn(path, 'is not known here and was left out');
  }

  /** `${env:X}` and `${input:X}` of the editors become `${X}`; a Claude or Codex file already has that form. */
  #withOurReferences(value: JsonValue, path: KeyPath): JsonValue {
    if (typeof value === 'string') {
      return value.replace(
        /\$\{(env|input|file):([^}]+)\}|\$\{(workspaceFolder|userHome|pathSeparator|\/)\}/g,
        (match, kind, name, place) => {
          if (kind === 'env') return `\${${name}}`;
          if (kind === 'file') {
            this.#warn(path, `reads the file ${JSON.stringify(name)}; put what is in it into an environment variable`);
            return match;
          }
          if (kind === 'input') {
            const variable = String(name).replace(/\W/g, '_').toUpperCase();
            this.#warn(
              path,
              `asks for the input ${JSON.stringify(name)}; set the environment variable ${variable} instead`,
            );
            return `\${${variable}}`;
          }
          if (place === 'userHome') return '${HOME}';
          if (place === 'workspaceFolder') return '.';
          if (place === 'pathSeparator' || place === '/') return '/';
          return match;
        },
      );
    }
    if (Array.isArray(value)) return value.map((item) => this.#withOurReferences(item, path));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.#withOurReferences(item, path)]));
  }

  #texts(value: JsonValue): JsonValue {
    const text = (item: JsonValue) => (typeof item === 'number' || typeof item === 'boolean' ? String(item) : item);
    if (Array.isArray(value)) return value.map(text);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, item]) => (item === null ? [] : [[key, text(item)]])),
    );
  }

  #headers(server: JsonObject): JsonObject {
    return isObject(server.headers) ? server.headers : {};
  }

  #stringMap(value: JsonValue): Record<string, string> {
    const entries = isObject(value) ? Object.entries(value) : [];
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  }

  #warn(path: KeyPath, what: string): void {
    this.#warnings.push(`${renderPath(path)} ${what}`);
  }
}

function isTextList(value: JsonValue): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
