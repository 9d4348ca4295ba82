import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { JsonValue } from '../domain/json.js';
import { badConfig, parseTomlDocument, parseYaml } from './document.js';
import type { Environment } from './environment.js';
import { detectFormat, type ForeignFormat, importForeign } from './import.js';
import { MAX_CONFIG_BYTES, readConfigFile } from './read-file.js';
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
  const files: ClientFile[] = [
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
  // In the home folder itself, the project's files are the user's.
  return files.filter(({ file }, index) => files.findIndex((other) => other.file === file) === index);
}

/** Reads those that exist and list at least one server. A file that cannot be read is a warning: it is not ours. */
export async function discoverServers(files: readonly ClientFile[]): Promise<DiscoveredServers[]> {
  const discovered: DiscoveredServers[] = [];
  for (const candidate of files) {
    try {
      const text = await readIfThere(candidate.file);
      const found = text === undefined ? undefined : serversIn(text, candidate);
      if (found !== undefined) discovered.push(found);
    } catch (error) {
      discovered.push({ ...candidate, servers: {}, warnings: [`was left out: ${(error as Error).message}`] });
    }
  }
  return discovered;
}

/** Reads one file that somebody named: whose it is shows in its name and contents. Throws `bad_config`. */
export async function readClientFile(file: string): Promise<DiscoveredServers> {
  const text = await readConfigFile(file);
  const { value } = file.endsWith('.toml') ? parseTomlDocument(text, file) : parseYaml(text, file);
  const format = detectFormat(file, value) ?? 'claude';
  const candidate: ClientFile = { client: CLIENT_OF[format], file, format };
  const found = serversIn(text, candidate);
  if (found === undefined)
    throw badConfig(file, undefined, 'lists no servers; a file with mcpServers, servers or [mcp_servers] is expected');
  return found;
}

const CLIENT_OF = {
  claude: 'Claude Code',
  vscode: 'VS Code',
  codex: 'Codex',
  mcpproxy: 'mcpproxy',
} as const satisfies Record<ForeignFormat, ClientFile['client']>;

function serversIn(text: string, candidate: ClientFile): DiscoveredServers | undefined {
  const { file, format, project } = candidate;
  const { value } = format === 'codex' ? parseTomlDocument(text, file) : parseYaml(text, file);
  const imported = [value, projectSection(value, project)].map((section) => importForeign(section, format));
  const servers = Object.assign({}, ...imported.map((each) => (isObject(each.value) ? each.value.mcpServers : {})));
  const warnings = imported.flatMap((section) => section.warnings);
  return Object.keys(servers).length === 0 && warnings.length === 0 ? undefined : { ...candidate, servers, warnings };
}

function projectSection(value: JsonValue, project: string | undefined): JsonValue {
  const projects = isObject(value) && project !== undefined ? value.projects : undefined;
  return isObject(projects) && project !== undefined && Object.hasOwn(projects, project)
    ? (projects[project] ?? {})
    : {};
}

/** Undefined where there is nothing. Throws where there is something that cannot be read. */
async function readIfThere(file: string): Promise<string | undefined> {
  try {
    const found = await stat(file);
    if (!found.isFile() || found.size === 0) return undefined;
    if (found.size > MAX_FOREIGN_BYTES) throw new Error(`it is ${found.size} bytes long`);
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code === 'EACCES' || code === 'EPERM') throw new Error('it may not be read; check its permissions');
    throw error;
  }
}

/** Claude Code keeps its history in the same file. */
const MAX_FOREIGN_BYTES = 4 * MAX_CONFIG_BYTES;
