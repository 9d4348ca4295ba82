import { expect, test } from 'vitest';
import { programTitle } from './program-title.js';

test.each([
  ['one statement', 'return 1 + 1', 'return 1 + 1'],
  [
    'imports come first',
    "import { a } from '@codemode/servers/x';\n\nconst all = await a({});",
    'const all = await a({});',
  ],
  ['an import over several lines', "import {\n  a,\n  b,\n} from 'x';\nawait a();", 'await a();'],
  ['an import of everything', "import * as x from 'x';\nx.go();", 'x.go();'],
  ['a dynamic import is no import', "import('x').then(go);", "import('x').then(go);"],
  ['comments', '// first\n/* second\n   third */\n/* fourth */\n  go(1);', 'go(1);'],
  [
    'a shebang and Python',
    '#!/usr/bin/env python3\nimport sys\nfrom a import b\nfrom c import (\n  d,\n)\nprint(1)',
    'print(1)',
  ],
  ['a docstring', '"""what\nit does"""\nprint(2)', 'print(2)'],
  ['Go', 'package main\n\nimport (\n\t"fmt"\n)\n\nfunc main() {', 'func main() {'],
  [
    'a line that awaits something, before lines that prepare it',
    'const all = [];\nall.push(await get({}));',
    'all.push(await get({}));',
  ],
  ['the assignment of the result is left out', 'globalThis.__codemode_result__ = await get({});', 'await get({});'],
  ['no line that awaits something', 'const a = 1;\nreturn a;', 'const a = 1;'],
  ['nothing but imports', "import 'x';\n", "import 'x';"],
  ['nothing', '  \n\n', ''],
  ['white space inside', 'a(\t1,   2)', 'a( 1, 2)'],
])('%s', (_, source, title) => {
  expect(programTitle(source)).toBe(title);
});

test('a title is at most 120 characters long and ends in no half character', () => {
  const title = programTitle(`${'a'.repeat(118)}😀${'b'.repeat(100)}`);
  expect(title).toBe(`${'a'.repeat(118)}…`);
});

test('only the beginning of a long source is searched', () => {
  expect(programTitle(`${'// note\n'.repeat(900)}go();`)).toBe('go();');
  expect(programTitle(`${'// note\n'.repeat(2_000)}go();`)).toBe('// note');
  expect(programTitle(`import ${'{'.repeat(1_000_000)}`)).toMatch(/^import \{+…$/);
});
