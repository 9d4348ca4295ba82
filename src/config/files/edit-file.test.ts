import { describe, expect, test } from 'vitest';
import { serversInFile, withoutServer, withServers } from './edit-file.js';

const YAML = '/x/codemode.config.yaml';
const JSON_FILE = '/x/codemode.config.json';
const NEW = [{ name: 'new one', server: { command: 'npx', args: ['-y', 'pkg'] } }];

const MINE = `# mine
profile:   codemode   # spaced my way

mcpServers:
    # the files
    files:
        command: "npx"     # quoted
        args: [ '-y', fs ]
        # kept off for now:
        # cwd: /tmp

    web: {url: https://h/mcp}   # remote
    # end of servers

sandbox:
    isolation: strict
`;

describe('adding a server', () => {
  test('to YAML leaves every other letter as it was, in the indentation of the file', () => {
    expect(withServers(MINE, YAML, NEW)).toBe(
      MINE.replace(
        '# remote\n',
        '# remote\n    new one:\n        command: npx\n        args:\n            - -y\n            - pkg\n',
      ),
    );
  });

  test.each([
    ['an empty map', 'mcpServers: {}\n#  files:\n#    command: npx\n', 'mcpServers:\n  new one:\n'],
    ['a key with nothing behind it', 'a: 1\nmcpServers:\nb: 2\n', 'a: 1\nmcpServers:\n  new one:\n'],
    ['a file without the key', 'profile: codemode # x', 'profile: codemode # x\nmcpServers:\n  new one:\n'],
    ['a file of comments', '# nothing yet\n', '# nothing yet\nmcpServers:\n  new one:\n'],
    ['a map in braces', 'mcpServers: { a: { command: x } }\n', 'mcpServers: { a: { command: x }, "new one": {'],
    ['mcp.servers', 'mcp:\n  servers:\n    a: { command: x } # c\n', '    a: { command: x } # c\n    new one:\n'],
    ['a list', 'mcpServers:\n  # first\n  - name: a\n    command: x\n', '  # first\n  - name: a\n'],
    ['no line break at the end', 'mcpServers:\n  a: { command: x }', '  a: { command: x }\n  new one:\n'],
  ])('works in YAML with %s', (_what, text, expected) => {
    const edited = withServers(text, YAML, NEW);
    expect(edited).toContain(expected);
    expect(serversInFile(edited, YAML)).toMatchObject({ 'new one': { command: 'npx', args: ['-y', 'pkg'] } });
  });

  test.each([
    [
      '{"mcpServers":{"a":{"command":"x"}}}',
      '{"mcpServers":{"a":{"command":"x"}, "new one": {"command":"npx","args":["-y","pkg"]}}}',
    ],
    ['{\n\t"mcpServers": {\n\t\t"a": { "command": "x" } // mine\n\t}\n}\n', undefined],
    ['{\n  "mcpServers": {\n    "a": { "command": "x" }, // mine\n  }\n}\n', undefined],
    [
      '{\n  "mcpServers": {}\n}\n',
      '{\n  "mcpServers": {\n    "new one": {\n      "command": "npx",\n      "args": [\n        "-y",\n        "pkg"\n      ]\n    }\n  }\n}\n',
    ],
    ['{ "profile": "codemode" }', undefined],
    ['{}', undefined],
  ])('to JSON keeps its form and comments: %j', (text, expected) => {
    const edited = withServers(text, JSON_FILE, NEW);
    if (expected !== undefined) expect(edited).toBe(expected);
    expect(edited.includes('// mine')).toBe(text.includes('// mine'));
    expect(serversInFile(edited, JSON_FILE)).toMatchObject({ 'new one': { command: 'npx' } });
  });

  test('puts a comment above it in YAML', () => {
    const edited = withServers(MINE, YAML, [{ ...(NEW[0] as (typeof NEW)[0]), comment: 'from Cursor: /x' }]);
    expect(edited).toContain('    # from Cursor: /x\n    new one:\n');
  });
});

describe('removing a server', () => {
  test('from YAML takes away its lines and nothing else', () => {
    expect(withoutServer(MINE, YAML, 'web')).toBe(MINE.replace('    web: {url: https://h/mcp}   # remote\n', ''));
    expect(withoutServer(MINE, YAML, 'files')).toBe(MINE.replace(/ {4}files:\n.*\n.*\n/, ''));
  });

  test('takes the line away that init wrote above it, and the last one leaves an empty map', () => {
    const text =
      'mcpServers:\n  # mine\n  # from Cursor: /home/me/.cursor/mcp.json\n  a:\n    command: x\nprofile: go\n';
    expect(withoutServer(text, YAML, 'a')).toBe('mcpServers: {}\n  # mine\nprofile: go\n');
  });

  test.each([
    ['mcpServers: { a: { command: x }, b: { command: y } }\n', YAML, 'mcpServers: { a: { command: x } }\n'],
    [
      'mcpServers:\n  - name: a\n    command: x\n  - name: b # y\n    command: y\n',
      YAML,
      'mcpServers:\n  - name: a\n    command: x\n',
    ],
    ['{"mcpServers":{"b":{"command":"x"},"a":{"command":"y"}}}', JSON_FILE, '{"mcpServers":{"a":{"command":"y"}}}'],
    [
      '{\n  "mcpServers": {\n    "a": { "command": "x" }, // mine\n    "b": { "command": "y" }\n  }\n}\n',
      JSON_FILE,
      undefined,
    ],
    ['{ "mcpServers": { "b": { "command": "x" } } }', JSON_FILE, '{ "mcpServers": {} }'],
  ])('from %j', (text, file, expected) => {
    const edited = withoutServer(text, file, 'b');
    if (expected !== undefined) expect(edited).toBe(expected);
    expect(Object.keys(serversInFile(edited, file))).not.toContain('b');
  });
});

test('a file of another program is not edited', () => {
  expect(() => withServers('{"mcpServers":{}}', '/home/me/.claude.json', NEW)).toThrow(
    '/home/me/.claude.json is a file of another program; codemode changes only its own files',
  );
});
