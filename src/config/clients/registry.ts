import { join } from 'node:path';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import { absoluteFolder, homeFolder } from '../files/user-folders.js';
import { type ForeignFormat, importForeign } from '../import/import.js';
import { isObject } from '../schema/server-map.js';
import type { Environment } from '../variables/environment.js';
import type { ClientFormat } from './client-format.js';
import { claudeCodeEntry, opencodeEntry, stdioEntry, typedEntry, zedEntry } from './entry-forms.js';
import { jsonFormat } from './json-format.js';
import { tomlFormat } from './toml-format.js';

/** The command that a client has to start. */
export interface StartCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** A program that runs agents, and how its servers are configured. */
export interface Client {
  readonly id: string;
  readonly title: string;
  /** Its files that belong to the user. The first one is created if none exists. */
  files(places: Places): readonly string[];
  /** A folder that exists once the client has run. */
  folder(places: Places): string;
  readonly format: ClientFormat;
  entry(start: StartCommand): JsonObject;
  /** The format of its file and the key that holds the servers: how its entries are read. */
  readonly origin: ForeignFormat;
  readonly key: string;
  /** The reason why we cannot write its file with these entries, if there is one. */
  unsupported?(entries: ReadonlyMap<string, JsonValue>): string | undefined;
}

/** The folders in which this user's programs keep their settings. */
export interface Places {
  readonly environment: Environment;
  readonly home: string;
  /** Settings of desktop programs. */
  readonly support: string;
  /** `$XDG_CONFIG_HOME`, also on macOS. */
  readonly config: string;
}

export function placesOf(environment: Environment, platform: NodeJS.Platform): Places {
  const home = homeFolder(environment);
  const config = absoluteFolder(environment.XDG_CONFIG_HOME) ?? join(home, '.config');
  const support = platform === 'darwin' ? join(home, 'Library', 'Application Support') : config;
  return { environment, home, support, config };
}

export const CLIENTS: readonly Client[] = [
  {
    id: 'claude-code',
    title: 'Claude Code',
    files: ({ environment: { CLAUDE_CONFIG_DIR: own }, home }) => [join(absoluteFolder(own) ?? home, '.claude.json')],
    folder: ({ environment: { CLAUDE_CONFIG_DIR: own }, home }) => absoluteFolder(own) ?? join(home, '.claude'),
    format: jsonFormat('mcpServers'),
    origin: 'claude',
    key: 'mcpServers',
    entry: claudeCodeEntry,
  },
  {
    id: 'claude-desktop',
    title: 'Claude Desktop',
    files: ({ support }) => [join(support, 'Claude', 'claude_desktop_config.json')],
    folder: ({ support }) => join(support, 'Claude'),
    format: jsonFormat('mcpServers'),
    origin: 'claude',
    key: 'mcpServers',
    entry: stdioEntry,
  },
  {
    id: 'cursor',
    title: 'Cursor',
    files: ({ home }) => [join(home, '.cursor', 'mcp.json')],
    folder: ({ home }) => join(home, '.cursor'),
    format: jsonFormat('mcpServers'),
    origin: 'claude',
    key: 'mcpServers',
    entry: stdioEntry,
  },
  {
    id: 'vscode',
    title: 'VS Code',
    files: ({ support }) => [join(support, 'Code', 'User', 'mcp.json')],
    folder: ({ support }) => join(support, 'Code'),
    format: jsonFormat('servers'),
    origin: 'vscode',
    key: 'servers',
    entry: typedEntry,
  },
  {
    id: 'codex',
    title: 'Codex',
    files: (places) => [join(codexFolder(places), 'config.toml')],
    folder: codexFolder,
    format: tomlFormat('mcp_servers'),
    origin: 'codex',
    key: 'mcp_servers',
    entry: stdioEntry,
  },
  {
    id: 'windsurf',
    title: 'Windsurf',
    files: ({ home }) => [join(home, '.codeium', 'windsurf', 'mcp_config.json')],
    folder: ({ home }) => join(home, '.codeium', 'windsurf'),
    format: jsonFormat('mcpServers'),
    origin: 'claude',
    key: 'mcpServers',
    entry: stdioEntry,
  },
  {
    id: 'gemini',
    title: 'Gemini CLI',
    files: ({ home }) => [join(home, '.gemini', 'settings.json')],
    folder: ({ home }) => join(home, '.gemini'),
    format: jsonFormat('mcpServers'),
    origin: 'gemini',
    key: 'mcpServers',
    entry: stdioEntry,
  },
  {
    id: 'opencode',
    title: 'OpenCode',
    files: ({ config }) => ['opencode.json', 'opencode.jsonc'].map((name) => join(config, 'opencode', name)),
    folder: ({ config }) => join(config, 'opencode'),
    format: jsonFormat('mcp'),
    origin: 'opencode',
    key: 'mcp',
    entry: opencodeEntry,
    // Version 2 nests its servers one level deeper.
    unsupported: (entries) => {
      const inner = entries.get('servers');
      return isObject(inner) && inner.type === undefined ? 'its servers are under mcp.servers' : undefined;
    },
  },
  {
    id: 'zed',
    title: 'Zed',
    files: ({ config }) => [join(config, 'zed', 'settings.json')],
    folder: ({ config }) => join(config, 'zed'),
    format: jsonFormat('context_servers'),
    origin: 'zed',
    key: 'context_servers',
    entry: zedEntry,
  },
];

function codexFolder({ environment: { CODEX_HOME: own }, home }: Places): string {
  return absoluteFolder(own) ?? join(home, '.codex');
}

/** One entry of a client's file in our form; undefined if we do not understand it. */
export function inOurForm({ origin, key }: Client, entry: JsonObject): JsonObject | undefined {
  const { value } = importForeign({ [key]: { it: entry } }, origin);
  const servers = isObject(value) && isObject(value.mcpServers) ? value.mcpServers : {};
  return isObject(servers.it) ? servers.it : undefined;
}
