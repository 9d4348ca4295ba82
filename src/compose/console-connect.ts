import { cursorInstallLink, vscodeInstallLink } from '../config/clients/install-links.js';
import { type OwnStartCommand, ownStartCommand } from '../config/clients/own-start-command.js';
import { CLIENTS, type Client, placesOf } from '../config/clients/registry.js';
import { OWN_NAME, openTarget, startsUs } from '../config/clients/target.js';
import type { FoundFile } from '../config/files/find-file.js';
import { type Environment, readEnvironment } from '../config/variables/environment.js';
import type { ConnectClient, ConnectedClient, ConnectInfo } from '../domain/console/connect.js';
import { isHostError } from '../domain/errors.js';
import { omitUndefined } from '../lib/omit-undefined.js';

/**
 * What each client on this machine needs in its configuration file, and whether the file has it. `configured`: the file that this host
 * was started with. A client that starts codemode without it would have other servers and rules than this page shows.
 */
export async function connectInfo(
  url: string | undefined,
  configured: FoundFile | undefined,
  seen: readonly ConnectedClient[],
): Promise<ConnectInfo> {
  const environment = readEnvironment();
  const start = ownStartCommand(environment, process.cwd(), configured);
  const found = await Promise.all(CLIENTS.map((client) => inspectClient(client, environment, start)));
  const isMeant = ({ id }: { readonly id: string }, { name }: ConnectedClient) => OWN_NAMES[id]?.test(name) === true;
  const clients = found.map((client) => ({ ...client, connections: seen.filter((each) => isMeant(client, each)) }));
  const others = seen.filter((each) => !found.some((client) => isMeant(client, each)));
  return { clients, others, ...omitUndefined({ url }) };
}

type InspectedClient = Omit<ConnectClient, 'connections'>;

async function inspectClient(
  client: Client,
  environment: Environment,
  start: OwnStartCommand,
): Promise<InspectedClient> {
  const { id, title } = client;
  const { command, args } = start;
  const link = LINKS[id]?.({ name: OWN_NAME, command, args });
  const [path = ''] = client.files(placesOf(environment, process.platform));
  const common = {
    ...{ id, name: title, command: `${start.shellAnywhere} install ${id}` },
    ...omitUndefined({ link }),
  };
  const text = entryText(client, start);
  try {
    const target = await openTarget(client, environment, process.platform);
    const entry = target.entries.get(OWN_NAME);
    const isConfigured = entry !== undefined && (target.record !== undefined || startsUs(target, entry, start));
    return { ...common, file: { path: target.file.path, text }, isConfigured, isFound: target.isFound };
  } catch (error) {
    if (!isHostError(error)) throw error;
    return { ...common, file: { path, text }, isConfigured: false, isFound: true, problem: error.message };
  }
}

/** The names that clients send when they connect. */
const OWN_NAMES: Readonly<Record<string, RegExp>> = {
  'claude-code': /^claude[- ]code/i,
  'claude-desktop': /^claude[- ](ai|desktop)/i,
  cursor: /cursor/i,
  vscode: /^(visual studio code|vs ?code)/i,
  codex: /^codex/i,
  windsurf: /windsurf|codeium/i,
  gemini: /^gemini/i,
  opencode: /^opencode/i,
  zed: /^zed/i,
};

const LINKS: Readonly<Record<string, typeof cursorInstallLink>> = {
  cursor: cursorInstallLink,
  vscode: vscodeInstallLink,
};

/** The entry for the client's file, in the file's own format. */
function entryText({ format, entry }: Client, start: OwnStartCommand): string {
  const written = entry(start);
  try {
    // An empty JSON file needs braces. An empty TOML file needs nothing.
    return format.add(format.key === 'mcp_servers' ? '' : '{}\n', OWN_NAME, written).trim();
  } catch {
    return JSON.stringify({ [format.key]: { [OWN_NAME]: written } }, null, 2);
  }
}
