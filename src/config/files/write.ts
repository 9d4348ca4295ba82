import { oneLine } from '../../lib/text/bounded-text.js';
import type { PlannedServer } from '../import/plan-import.js';
import { isObject } from '../schema/server-map.js';
import { replaceSecrets } from '../variables/secret-references.js';
import { isJsonFile } from './document.js';
import { withServers } from './edit-file.js';
import type { NewServer } from './splice.js';

/** A first configuration with these servers, in the format of the file's extension. */
export function renderConfig(servers: readonly NewServer[], file: string): string {
  const mcpServers = Object.fromEntries(servers.map(({ name, server }) => [name, server]));
  if (isJsonFile(file)) return `${JSON.stringify({ profile: 'codemode', mcpServers }, null, 2)}\n`;
  const body = servers.length === 0 ? NO_SERVERS : withServers('mcpServers: {}\n', file, servers);
  return `${HEAD}${body}${FOOT}`;
}

/** An imported server, with a comment that names its source. */
export function importedServer({ name, renamedFrom, from, server }: PlannedServer): NewServer {
  const renamed = renamedFrom === undefined ? '' : `, called ${JSON.stringify(renamedFrom)} there`;
  // A file name is untrusted text too: a line break in it must not end the comment.
  return { name, server, comment: `from ${from.client}: ${oneLine(from.file)}${oneLine(renamed)}` };
}

/** Whether it contains values that others should not read: variables, headers, or anything that looks like a secret. */
export function holdsValues({ server }: NewServer): boolean {
  const maps = [server.env, server.environment, server.headers, server.auth];
  if (maps.some((map) => isObject(map ?? null) && Object.keys(map as object).length > 0)) return true;
  let isSecret = false;
  replaceSecrets(server, (secret) => {
    isSecret = true;
    return secret;
  });
  return isSecret;
}

const HEAD = `# Configuration of codemode. Every setting with its value and origin: codemode config explain
# What is not written here has its default; a key that does not exist is an error, with its line.
# \${NAME} stands for an environment variable, \${NAME:-text} for text where it is not set.

# Which contract agents are served: codemode, unified, code_execution, runner, go
profile: codemode

# The servers whose tools programs may call. Check them with: codemode servers
# A local server sees few of your variables; inheritEnv: [NAME] passes more of them on to it.
`;

const NO_SERVERS = `mcpServers: {}
#  files:
#    command: npx
#    args: ["-y", "@modelcontextprotocol/server-filesystem", "./notes"]
#  issues:
#    url: https://example.com/mcp
#    headers:
#      Authorization: Bearer \${ISSUES_TOKEN}
`;

const FOOT = `
# How far programs are cut off from this machine. Unset: the best that this machine can give (codemode doctor).
#sandbox:
#  isolation: strict
#  limits: { timeout: 30s, memory: 64MB, calls: 1000 }
`;
