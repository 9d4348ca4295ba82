import { expect, test } from 'vitest';
import { type EntryEdit, edited } from './client-format.js';
import { tomlFormat } from './toml-format.js';

const format = tomlFormat('mcp_servers');
const ENTRY = { command: '/opt/node', args: ['/opt/my "bin".js', 'mcp'] };
const ADD: EntryEdit = { kind: 'add', name: 'codemode', entry: ENTRY };
const BLOCK = '[mcp_servers.codemode]\ncommand = "/opt/node"\nargs = [ "/opt/my \\"bin\\".js", "mcp" ]\n';

function edit(text: string, ...edits: EntryEdit[]): string {
  return edited(format, text, 'config.toml', edits);
}

const SETTINGS = `# my settings
model = "x" # the best
notes = """
[mcp_servers.not_a_table]
it's "text" """
list = [
  "[a]", # ]
  'b',
]

# issues of work
[mcp_servers.issues]
command = "i"

[mcp_servers.issues.env]
KEY = "v"

# looks at files
[mcp_servers."my files"]
command = "f"
[profiles.deep]
model = "y"
[[mcp_servers_not]]
a = 1
`;

test.each([
  ['', BLOCK],
  ['model = "x"', `model = "x"\n\n${BLOCK}`],
  ['model = "x"\n', `model = "x"\n\n${BLOCK}`],
  [SETTINGS, `${SETTINGS}\n${BLOCK}`],
  ['a = 1\r\n', `a = 1\r\n\r\n${BLOCK.replaceAll('\n', '\r\n')}`],
])('a table is added behind everything else', (text, expected) => {
  expect(edit(text, ADD)).toBe(expected);
});

test('a table is removed with its subtables and comments, and nothing that only looks like it', () => {
  expect(edit(SETTINGS, { kind: 'remove', name: 'issues' })).toBe(
    SETTINGS.replace(/# issues of work[\s\S]*?(?=# looks)/, ''),
  );
  expect(edit(SETTINGS, { kind: 'remove', name: 'my files' })).toBe(
    SETTINGS.replace(/# looks[\s\S]*?(?=\[profiles)/, ''),
  );
});

test('a removed table is copied back as it was written', () => {
  const without = edit(SETTINGS, { kind: 'remove', name: 'issues' });
  expect(edit(without, { kind: 'copy', name: 'issues', from: SETTINGS })).toBe(
    `${without}\n# issues of work\n[mcp_servers.issues]\ncommand = "i"\n\n[mcp_servers.issues.env]\nKEY = "v"\n`,
  );
});

test('a table is replaced', () => {
  expect(edit(`${BLOCK.replace('node', 'old')}\n[a]\n`, ADD)).toBe(`[a]\n\n${BLOCK}`);
});

test.each([
  ['servers in a line', 'mcp_servers = { a = { command = "x" } }\n'],
  ['dotted keys', 'mcp_servers.codemode.command = "x"\n'],
])('%s are left alone', (_, text) => {
  expect(() => edit(text, ADD)).toThrow(
    'config.toml: mcp_servers is written in a way that codemode cannot edit safely; nothing was written.',
  );
});

test('a file that is not TOML is refused with its place', () => {
  expect(() => edit('model = "x\n[a\n', ADD)).toThrow(/^config\.toml:\d+:\d+: this is not valid TOML: /);
});
