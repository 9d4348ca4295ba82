import { describe, expect, test } from 'vitest';
import { type EntryEdit, edited } from './client-format.js';
import { jsonFormat } from './json-format.js';

const format = jsonFormat('mcpServers');
const ENTRY = { command: 'node', args: ['bin.js', 'mcp'] };
const ADD: EntryEdit = { kind: 'add', name: 'codemode', entry: ENTRY };

function edit(text: string, ...edits: EntryEdit[]): string {
  return edited(format, text, 'f.json', edits);
}

describe('an entry is added', () => {
  test('to an empty file, as a whole document', () => {
    expect(edit(' \n', ADD)).toBe(`${JSON.stringify({ mcpServers: { codemode: ENTRY } }, null, 2)}\n`);
  });

  test('behind the last one, in the indentation of the file, with every comment kept', () => {
    const text = `// settings
{
\t"theme": "dark", // not light
\t"mcpServers": {
\t\t// first
\t\t"files": { "command": "x" } // here
\t\t/* end of the list */
\t},
}
`;
    expect(edit(text, ADD)).toBe(`// settings
{
\t"theme": "dark", // not light
\t"mcpServers": {
\t\t// first
\t\t"files": { "command": "x" }, // here
\t\t/* end of the list */
\t\t"codemode": {
\t\t\t"command": "node",
\t\t\t"args": [
\t\t\t\t"bin.js",
\t\t\t\t"mcp"
\t\t\t]
\t\t}
\t},
}
`);
  });

  test.each([
    ['{}', '{\n  "mcpServers": {\n    "codemode": 1\n  }\n}'],
    ['{"a":1}', '{"a":1, "mcpServers": {"codemode":1}}'],
    ['{ "a": 1, }', '{ "a": 1, "mcpServers": {"codemode":1} }'],
    ['{"mcpServers":{}}', '{"mcpServers":{\n  "codemode": 1\n}}'],
    ['{ // none\n}\n', '{ // none\n  "mcpServers": {\n    "codemode": 1\n  }\n}\n'],
    ['{\r\n    "a": 1\r\n}', '{\r\n    "a": 1,\r\n    "mcpServers": {\r\n        "codemode": 1\r\n    }\r\n}'],
    [
      '\ufeff{\n  "mcpServers": {\n    "x": 2,\n  }\n}',
      '\ufeff{\n  "mcpServers": {\n    "x": 2,\n    "codemode": 1,\n  }\n}',
    ],
  ])('to %j', (text, expected) => {
    expect(edit(text, { kind: 'add', name: 'codemode', entry: 1 as never })).toBe(expected);
  });

  test('in the place of one that is there', () => {
    const text = '{\n  "mcpServers": {\n    "codemode": { "command": "old" },\n    "b": {}\n  }\n}\n';
    const again = edit(text, ADD);
    expect(JSON.parse(again)).toEqual({ mcpServers: { b: {}, codemode: ENTRY } });
    expect(again.startsWith('{\n  "mcpServers": {\n    "b": {},\n    "codemode": {\n')).toBe(true);
  });
});

const THREE = `{
  "mcpServers": {
    // files of this machine
    "files": {
      "command": "f" // fast
    },

    // issues,
    // all of them
    "issues": { "command": "i" }, // slow
    "last": { "command": "l" }
  }
}
`;

describe('an entry is removed', () => {
  test('with its own comments, and no others', () => {
    expect(edit(THREE, { kind: 'remove', name: 'issues' })).toBe(THREE.replace(/ {4}\/\/ issues,\n.*\n.*slow\n/, ''));
    expect(edit(THREE, { kind: 'remove', name: 'files' })).toBe(THREE.replace(/ {4}\/\/ files[\s\S]*?\},\n/, ''));
  });

  test('with the comma before it, where it was the last', () => {
    expect(edit(THREE, { kind: 'remove', name: 'last' })).toBe(
      THREE.replace('}, // slow\n    "last": { "command": "l" }\n', '} // slow\n'),
    );
  });

  test.each([
    ['{"mcpServers":{"a":1,"b":2,"c":3}}', 'a', '{"mcpServers":{"b":2,"c":3}}'],
    ['{"mcpServers":{"a":1, "b":2, "c":3}}', 'b', '{"mcpServers":{"a":1, "c":3}}'],
    ['{"mcpServers":{"a":1, "b":2, "c":3}}', 'c', '{"mcpServers":{"a":1, "b":2}}'],
    ['{"mcpServers":{ "a": 1 }}', 'a', '{"mcpServers":{ }}'],
  ])('from %s: %s', (text, name, expected) => {
    expect(edit(text, { kind: 'remove', name })).toBe(expected);
  });

  test('and copied back from the file as it was, with its comments', () => {
    const without = edit(THREE, { kind: 'remove', name: 'issues' });
    expect(edit(without, { kind: 'copy', name: 'issues', from: THREE })).toBe(
      without.replace(
        '"last": { "command": "l" }\n',
        '"last": { "command": "l" },\n    // issues,\n    // all of them\n    // slow\n    "issues": { "command": "i" }\n',
      ),
    );
  });
});

test.each([
  ['{ "mcpServers": { "a": 1 ', 'f.json:1:26: this is not valid JSON: expected a comma or }'],
  ['{\n  "a": 1\n  "b": 2\n}', 'f.json:3:3: this is not valid JSON: expected a comma or }'],
  ["{ 'a': 1 }", 'f.json:1:3: this is not valid JSON: expected a name in double quotes or }'],
  ['{ "a": tru }', 'f.json:1:8: this is not valid JSON: expected a value'],
  ['[1, 2]', 'f.json: this is not valid JSON: it is not an object'],
  ['{} {}', 'f.json:1:4: this is not valid JSON: expected the end of the file'],
  ['{ "a": "x\n" }', 'f.json:1:8: this is not valid JSON: this string does not end on its line'],
  ['{ "mcpServers": 1, "mcpServers": {} }', 'f.json: this is not valid JSON: the key mcpServers appears twice'],
  [`${'['.repeat(100_000)}`, 'f.json:1:202: this is not valid JSON: nested more than 200 levels deep'],
  ['mcpServers:\n  a: 1\n', 'f.json:1:1: this is not valid JSON: expected a value'],
])('%j is refused with its place', (text, message) => {
  expect(() => edit(text, ADD)).toThrow(message);
});

test('a servers key that is not a map is refused', () => {
  expect(() => edit('{ "mcpServers": [] }', ADD)).toThrow('f.json: mcpServers is not a map of servers');
});

test('a file that names one server twice is left alone', () => {
  const text = '{ "mcpServers": { "a": {}, "a": {} } }';
  expect(() => edit(text, { kind: 'remove', name: 'a' })).toThrow('written in a way that codemode cannot edit safely');
});

test('a string of megabytes is read', () => {
  const text = JSON.stringify({ history: 'x\\"'.repeat(2_000_000) });
  expect(JSON.parse(edit(text, ADD))).toMatchObject({ mcpServers: { codemode: ENTRY } });
});
