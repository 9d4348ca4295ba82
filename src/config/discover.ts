import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { JsonValue } from '../domain/json.js';
import { parseTomlDocument, parseYaml } from './document.js';
import type { Environment } from './environment.js';
import { type ForeignFormat, importForeign } from './import.js';
import { MAX_CONFIG_BYTES } from './read-file.js';
import { isObject } from './shape.js';

/** A file of another program in which servers are configured. */
export interface ClientFile {
  readonly client: 'Claude Desktop' | 'Claude Code' | 'Cursor' | 'VS Code' | 'Codex' | 'mcpproxy';
  readonly file: string;
  readonly format: ForeignFormat;
  /** The file has sections for projects; this one's counts too. */
  readonly project?: string;
}

export interface DiscoveredServers extends ClientFile {
  /** Servers by name, in our form. References such as `${TOKEN}` are still references. */
  readonly servers: Readonly<Record<string, JsonValue>>;
  readonly warnings: readonly string[];
}

/** Where the clients that people use keep their servers, on Linux and macOS; the project's own files first. */
export function clientFiles(environment: Environment, cwd: string, platform: NodeJS.Platform): ClientFile[] {
  const home = environment.HOME ?? homedir();
  const support =
    platform === 'darwin'
      ? join(home, 'Library', 'Application Support')
      : (environment.XDG_CONFIG_HOME ?? join(home, '.config'));
  return [
    { client: 'Claude Code', file: join(cwd, '.mcp.json'), format: 'claude' },
    { client: 'Cursor', file: join(cwd, '.cursor', 'mcp.json'), format: 'claude' },
    { client: 'VS Code', file: join(cwd, '.vscode', 'mcp.json'), format: 'vscode' },
    { client: 'Claude Desktop', file: join(support, 'Claude', 'claude_desktop_config.json'), format: 'claude' },
    { client: 'Claude Code', file: join(home, '.claude.json'), format: 'claude', project: cwd },
    { client: 'Cursor', file: join(home, '.cursor', 'mcp.json'), format: 'claude' },
    { client: 'VS Code', file: join(support, 'Code', 'User', 'mcp.json'), format: 'vscode' },
    { client: 'VS Code', file: join(support, 'Code', 'User', 'settings.json'), format: 'vscode' },
    { client: 'Codex', file: join(environment.CODEX_HOME ?? join(home, '.codex'), 'config.toml'), format: 'codex' },
    { client: 'mcpproxy', file: join(home, '.mcpproxy', 'mcp_config.json'), format: 'mcpproxy' },
  ];
}

/** Reads those that exist and list at least one server. A file that cannot be read is a warning: it is not ours. */
export async function discoverServers(files: readonly ClientFile[]): Promise<DiscoveredServers[]> {
  const discovered: DiscoveredServers[] = [];
  for (const candidate of files) {
    const text = await readQuietly(candidate.file);
    if (text === undefined) continue;
    try {
      const document =
        candidate.format === 'codex' ? parseTomlDocument(text, candidate.file) : parseYaml(text, candidate.file);
      const imported = [document.value, projectSection(document.value, candidate.project)].map((section) =>
        importForeign(section, candidate.format),
      );
      const servers = Object.assign({}, ...imported.map(({ value }) => (isObject(value) ? value.mcpServers : {})));
      const warnings = imported.flatMap((section) => section.warnings);
      if (Object.keys(servers).length > 0) discovered.push({ ...candidate, servers, warnings });
    } catch (error) {
      discovered.push({ ...candidate, servers: {}, warnings: [`was left out: ${(error as Error).message}`] });
    }
  }
  return discovered;
}

function projectSection(value: JsonValue, project: string | undefined): JsonValue {
  const projects = isObject(value) && project !== undefined ? value.projects : undefined;
  return isObject(projects) && project !== undefined && Object.hasOwn(projects, project)
    ? (projects[project] ?? {})
    : {};
}

async function readQuietly(file: string): Promise<string | undefined> {
  try {
    const found = await stat(file);
    if (!found.isFile() || found.size === 0 || found.size > 4 * MAX_CONFIG_BYTES) return undefined;
    return await readFile(file, 'utf8');
  } catch {
    return undefined; // not there, or not for us to read
  }
}
