/** The server that an install link makes a client start. */
export interface LinkedServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

/** Opens Cursor, which shows the server and asks before it adds it. The configuration is base64 of JSON. */
export function cursorInstallLink({ name, command, args }: LinkedServer): string {
  const config = Buffer.from(JSON.stringify({ command, args })).toString('base64');
  return `cursor://anysphere.cursor-deeplink/mcp/install?${query({ name, config })}`;
}

/** The same through a web page, for places that allow no other scheme in links: GitHub, npm. */
export function cursorWebLink(server: LinkedServer): string {
  const { search } = new URL(cursorInstallLink(server));
  return `https://cursor.com/en/install-mcp${search}`;
}

/** Opens VS Code, which shows the server and asks before it adds it. The configuration is JSON, URL-encoded. */
export function vscodeInstallLink({ name, command, args }: LinkedServer): string {
  return `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name, type: 'stdio', command, args }))}`;
}

/** The same through a web page. `quality` selects which of the two editors opens. */
export function vscodeWebLink(
  { name, command, args }: LinkedServer,
  quality: 'stable' | 'insiders' = 'stable',
): string {
  const config = JSON.stringify({ type: 'stdio', command, args });
  const which = quality === 'insiders' ? { quality } : {};
  return `https://insiders.vscode.dev/redirect/mcp/install?${query({ name, config, ...which })}`;
}

/** `%20` and not `+` for a space: not every reader of these links decodes form encoding. */
function query(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
    .join('&');
}
