import { Document, isPair, isScalar, type YAMLMap } from 'yaml';
import type { JsonObject } from '../domain/json.js';
import { oneLine } from '../lib/bounded-text.js';
import type { ImportPlan } from './plan-import.js';

/** A configuration with these servers, in the form that the file's name asks for. */
export function renderConfig(plan: ImportPlan, file: string): string {
  const mcpServers = Object.fromEntries(plan.servers.map(({ name, server }) => [name, server]));
  if (file.endsWith('.json')) return `${JSON.stringify({ profile: 'codemode', mcpServers }, null, 2)}\n`;
  return `${HEAD}${plan.servers.length === 0 ? NO_SERVERS : renderServers(plan, mcpServers)}${FOOT}`;
}

const HEAD = `# Configuration of codemode. Every setting with its value and origin: codemode config explain
# What is not written here has its default; a key that does not exist is an error, with its line.
# \${NAME} stands for an environment variable, \${NAME:-text} for text where it is not set.

# Which contract agents are served: codemode, unified, code_execution, runner, go
profile: codemode

# The servers whose tools programs may call. Check them with: codemode servers
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

function renderServers(plan: ImportPlan, mcpServers: JsonObject): string {
  const document = new Document({ mcpServers });
  const servers = document.get('mcpServers') as YAMLMap;
  for (const [index, pair] of servers.items.entries()) {
    const planned = plan.servers[index];
    if (planned === undefined || !isPair(pair) || !isScalar(pair.key)) continue;
    const renamed = planned.renamedFrom === undefined ? '' : `, called ${JSON.stringify(planned.renamedFrom)} there`;
    // A file name is foreign text too: a line break in it must not end the comment.
    pair.key.commentBefore = ` from ${planned.from.client}: ${oneLine(planned.from.file)}${oneLine(renamed)}`;
  }
  return document.toString({ lineWidth: 0 });
}
