import { readEnvironment } from '../../config/environment.js';
import { ownCommand } from '../../config/own-command.js';

/** What somebody who has seen it work does next. */
export function connectAClient(): string {
  const { shell, command, args } = ownCommand(readEnvironment(), process.cwd());
  const entry = { mcpServers: { codemode: { command, args: [...args, 'mcp'] } } };
  return `1. take over the servers you have:  ${shell} init
2. see whether they answer:         ${shell} servers
3. tell your client about codemode:

   Claude Code:
     claude mcp add codemode -- ${shell} mcp

   Cursor (~/.cursor/mcp.json), Claude Desktop, and others that read mcpServers:
     ${JSON.stringify(entry)}

   Then remove from that client the servers that codemode now has: their tools are reached through programs.
`;
}
