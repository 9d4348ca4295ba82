import { join } from 'node:path';
import type { JsonValue } from '../../domain/json.js';
import { readRegularFile, UnreadableFile } from '../../lib/files/read-regular-file.js';
import { detectFormat, type ForeignFormat, importForeign } from '../import/import.js';
import { isObject } from '../schema/server-map.js';
import type { Environment } from '../variables/environment.js';
import { badConfig, parseTomlDocument, parseYaml } from './document.js';
import { MAX_CONFIG_BYTES, readConfigFile } from './read-file.js';
import { absoluteFolder, homeFolder, isOfFolder, isSameFolder } from './user-folders.js';

export type ClientName =
  | 'Claude Desktop'
  | 'Claude Code'
  | 'Cursor'
  | 'VS Code'
  | 'Codex'
  | 'Windsurf'
  | 'Gemini CLI'
  | 'OpenCode'
  | 'Zed'
  | 'mcpproxy';

/** Another program's file that configures servers. */
export interface ClientFile {
  readonly client: ClientName;
  readonly file: string;
  readonly format: ForeignFormat;
  /** The owner of the file: a file in a project's folder comes from the project's author. */
  readonly owner: 'user' | 'project';
  /** The folder in which the client starts these servers, if it is fixed. */
  readonly folder?: string;
  /** The project whose section of the file is meant, if the file has sections for projects. */
  readonly project?: string;
}

export interface DiscoveredServers extends ClientFile {
  /** Servers by name, in our form. References such as `${TOKEN}` are still references. */
  readonly servers: Readonly<Record<string, JsonValue>>;
  readonly warnings: readonly string[];
}

/**
 * Where the common clients keep their servers, on Linux and macOS. The user's own files come first: a project's file must not take
 * the name of one of the user's servers.
 */
export function clientFiles(environment: Environment, cwd: string, platform: NodeJS.Platform): ClientFile[] {
  const home = homeFolder(environment);
  const config = absoluteFolder(environment.XDG_CONFIG_HOME) ?? join(home, '.config');
  const support = platform === 'darwin' ? join(home, 'Library', 'Application Support') : config;
  const of = (client: ClientName, format: ForeignFormat, file: string) => ({ client, file, format });
  const users = [
    of('Claude Desktop', 'claude', join(support, 'Claude', 'claude_desktop_config.json')),
    of('Claude Code', 'claude', join(home, '.claude.json')),
    { ...of('Claude Code', 'claude', join(home, '.claude.json')), project: cwd, folder: cwd },
    of('Cursor', 'claude', join(home, '.cursor', 'mcp.json')),
    of('VS Code', 'vscode', join(support, 'Code', 'User', 'mcp.json')),
    of('VS Code', 'vscode', join(support, 'Code', 'User', 'settings.json')),
    of('Codex', 'codex', join(absoluteFolder(environment.CODEX_HOME) ?? join(home, '.codex'), 'config.toml')),
    of('Windsurf', 'claude', join(home, '.codeium', 'windsurf', 'mcp_config.json')),
    of('Gemini CLI', 'gemini', join(home, '.gemini', 'settings.json')),
    of('OpenCode', 'opencode', join(config, 'opencode', 'opencode.json')),
    of('OpenCode', 'opencode', join(config, 'opencode', 'opencode.jsonc')),
    of('Zed', 'zed', join(platform === 'darwin' ? join(home, '.config') : config, 'zed', 'settings.json')),
    of('mcpproxy', 'mcpproxy', join(home, '.mcpproxy', 'mcp_config.json')),
  ].map((each): ClientFile => ({ ...each, ...ownerOf(each.file, environment, cwd) }));
  const projects = [
    of('Claude Code', 'claude', join(cwd, '.mcp.json')),
    of('Cursor', 'claude', join(cwd, '.cursor', 'mcp.json')),
    of('VS Code', 'vscode', join(cwd, '.vscode', 'mcp.json')),
    of('Gemini CLI', 'gemini', join(cwd, '.gemini', 'settings.json')),
    of('OpenCode', 'opencode', join(cwd, 'opencode.json')),
    of('OpenCode', 'opencode', join(cwd, 'opencode.jsonc')),
  ].map((each): ClientFile => ({ ...each, owner: isSameFolder(cwd, home) ? 'user' : 'project', folder: cwd }));
  return [...users, ...projects.filter(({ file }) => !users.some((own) => own.file === file))];
}

/** Reads the files that exist and list at least one server. An unreadable file is only a warning, because it is not ours. */
export async function discoverServers(files: readonly ClientFile[]): Promise<DiscoveredServers[]> {
  const discovered: DiscoveredServers[] = [];
  for (const candidate of files) {
    try {
      const text = await readIfThere(candidate.file);
      const found = text === undefined ? undefined : serversIn(text, candidate);
      if (found !== undefined) discovered.push(found);
    } catch (error) {
      // A file with sections is read more than once. It gets one warning.
      if (candidate.project === undefined)
        discovered.push({ ...candidate, servers: {}, warnings: [`was left out: ${(error as Error).message}`] });
    }
  }
  return discovered;
}

/** Reads one file that the user named. Its name and contents show its format. Throws `bad_config`. */
export async function readClientFile(file: string, environment: Environment, cwd: string): Promise<DiscoveredServers> {
  const text = await readConfigFile(file);
  const { value } = file.endsWith('.toml') ? parseTomlDocument(text, file) : parseYaml(text, file);
  const format = detectFormat(file, value) ?? 'claude';
  const client = WINDSURF.test(file) ? 'Windsurf' : CLIENT_OF[format];
  const candidate: ClientFile = { client, file, format, ...ownerOf(file, environment, cwd) };
  const found = serversIn(text, candidate);
  if (found === undefined)
    throw badConfig(
      file,
      undefined,
      'lists no servers; a file with mcpServers, servers, mcp, context_servers or [mcp_servers] is expected',
    );
  return found;
}

function ownerOf(file: string, environment: Environment, cwd: string): Pick<ClientFile, 'owner' | 'folder'> {
  return isOfFolder(file, environment, cwd) ? { owner: 'project', folder: cwd } : { owner: 'user' };
}

const WINDSURF = /[\\/]\.codeium[\\/](?:.*[\\/])?mcp_config\.json$/;
const CLIENT_OF = {
  claude: 'Claude Code',
  vscode: 'VS Code',
  codex: 'Codex',
  mcpproxy: 'mcpproxy',
  gemini: 'Gemini CLI',
  opencode: 'OpenCode',
  zed: 'Zed',
} as const satisfies Record<ForeignFormat, ClientFile['client']>;

function serversIn(text: string, candidate: ClientFile): DiscoveredServers | undefined {
  const { file, format, project } = candidate;
  const { value } = format === 'codex' ? parseTomlDocument(text, file) : parseYaml(text, file);
  const imported = importForeign(project === undefined ? value : projectSection(value, project), format);
  const servers = isObject(imported.value) && isObject(imported.value.mcpServers) ? imported.value.mcpServers : {};
  const { warnings } = imported;
  return Object.keys(servers).length === 0 && warnings.length === 0 ? undefined : { ...candidate, servers, warnings };
}

function projectSection(value: JsonValue, project: string): JsonValue {
  const projects = isObject(value) ? value.projects : undefined;
  return isObject(projects) && Object.hasOwn(projects, project) ? (projects[project] ?? {}) : {};
}

/** Undefined if there is no file. Throws if it exists and cannot be read. */
async function readIfThere(file: string): Promise<string | undefined> {
  try {
    const bytes = await readRegularFile(file, MAX_FOREIGN_BYTES);
    return bytes.length === 0 ? undefined : bytes.toString('utf8');
  } catch (error) {
    if (error instanceof UnreadableFile) {
      if (error.why === 'too_large') throw new Error(`it is ${error.size} bytes long`);
      return undefined;
    }
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code === 'EACCES' || code === 'EPERM') throw new Error('it may not be read; check its permissions');
    throw error;
  }
}

/** Claude Code keeps its history in the same file. */
const MAX_FOREIGN_BYTES = 4 * MAX_CONFIG_BYTES;
