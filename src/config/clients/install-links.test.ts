import { expect, test } from 'vitest';
import { cursorInstallLink, cursorWebLink, vscodeInstallLink, vscodeWebLink } from './install-links.js';

const server = {
  name: 'codemode',
  command: '/opt/my node/node',
  args: ['/opt/ü+&?=/bin.js', '--config', '/a b.yaml', 'mcp'],
};
const { name, command, args } = server;

test.each([
  ['cursor://anysphere.cursor-deeplink/mcp/install', cursorInstallLink(server)],
  ['https://cursor.com/en/install-mcp', cursorWebLink(server)],
])('a link of Cursor decodes to the server: %s', (start, link) => {
  expect(link.startsWith(`${start}?`)).toBe(true);
  const query = new URL(link).searchParams;
  expect(query.get('name')).toBe(name);
  expect(JSON.parse(Buffer.from(query.get('config') ?? '', 'base64').toString())).toEqual({ command, args });
});

test('a link of VS Code is the server as JSON, encoded', () => {
  const [scheme, encoded] = vscodeInstallLink(server).split('?');
  expect(scheme).toBe('vscode:mcp/install');
  expect(JSON.parse(decodeURIComponent(encoded ?? ''))).toEqual({ name, type: 'stdio', command, args });
});

test.each(['stable', 'insiders'] as const)('the web link of VS Code names server and editor, %s', (quality) => {
  const url = new URL(vscodeWebLink(server, quality));
  expect(`${url.origin}${url.pathname}`).toBe('https://insiders.vscode.dev/redirect/mcp/install');
  expect(JSON.parse(url.searchParams.get('config') ?? '')).toEqual({ type: 'stdio', command, args });
  expect([url.searchParams.get('name'), url.searchParams.get('quality')]).toEqual([
    name,
    quality === 'insiders' ? 'insiders' : null,
  ]);
});
