/** How somebody who has seen it work goes on. */
export const CONNECT_A_CLIENT = `1. take over the servers you have:  npx codemode init
2. see whether they answer:         npx codemode servers
3. tell your client about codemode:

   Claude Code:
     claude mcp add codemode -- npx codemode mcp

   Cursor (~/.cursor/mcp.json), Claude Desktop, and others that read mcpServers:
     { "mcpServers": { "codemode": { "command": "npx", "args": ["codemode", "mcp"] } } }

   Then remove from that client the servers that codemode now has: their tools are reached through programs.
`;
