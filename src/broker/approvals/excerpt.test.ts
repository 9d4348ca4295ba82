import { expect, test } from 'vitest';
import { excerptOf } from './excerpt.js';

const at = (...lines: number[]) => lines.map((line) => ({ line, column: 1 }));

const PROGRAM = `import { drop_table, list } from '@codemode/servers/db';
const names = await list();
// ...
await drop_table({ name: 'old' });
1;
2;
3;
4;
5;
for (const name of names) {
  await drop_table({ name });
}`;

test('the line that the stack shows is marked, and the other lines that name the tool are there [B16]', () => {
  expect(excerptOf(PROGRAM, 'drop_table', at(11))).toBe(`called at line 11
   1 | import { drop_table, list } from '@codemode/servers/db';
   2 | const names = await list();
   3 | // ...
   4 | await drop_table({ name: 'old' });
   5 | 1;
   6 | 2;
   7 | 3;
   8 | 4;
   9 | 5;
  10 | for (const name of names) {
> 11 |   await drop_table({ name });
  12 | }`);
});

test('a call under another name says so, and shows where it was made and where the name is from [B16]', () => {
  const source = `import { drop_table as tidy } from '@codemode/servers/db';
1;
2;
3;
4;
5;
6;
7;
8;
const run = (name: string) => tidy({ name });
9;
10;
11;
12;
13;
14;
15;
16;
await run('customers');`;
  const excerpt = excerptOf(source, 'drop_table', at(10, 19));
  expect(excerpt.split('\n')[0]).toBe('called at line 10, which does not name drop_table');
  expect(excerpt).toContain('> 10 | const run');
  expect(excerpt).toContain("> 19 | await run('customers');");
  expect(excerpt).toContain('   1 | import { drop_table as tidy }');
  expect(excerpt).not.toContain('| 4;');
});

test('an unknown source position is reported as unknown, and no unrelated line is shown [B16]', () => {
  expect(excerptOf(PROGRAM, 'drop_table').split('\n')[0]).toBe(
    'where it was called is not known; 2 lines name drop_table',
  );
  expect(excerptOf(PROGRAM, 'drop_table')).not.toContain('>');
  const computed = `import * as db from '@codemode/servers/db';\nawait db['drop_' + 'table']({ name: 'customers' });`;
  expect(excerptOf(computed, 'drop_table')).toBe('the call is not visible in the source under its name, drop_table');
  expect(excerptOf(computed, 'drop_table', at(2))).toContain("> 2 | await db['drop_' + 'table']");
  expect(excerptOf('', 'drop_table', at(1))).toBe('');
});

test('a name is found as a word: parts of others, and imports that keep it, do not count [B16]', () => {
  const named = (source: string) => excerptOf(source, 'send').split('\n')[0];
  expect(named("resend(); send2(); $send(); x.sender;\nimport { send } from 'x';")).toContain('not visible');
  expect(named("import {\n  list,\n  send,\n} from 'x';\nawait list();")).toContain('not visible');
  expect(named("import { send } from 'x'; await send();")).toContain('one line names send');
  expect(named("import {\n  send as list,\n} from 'x';")).toContain('one line names send');
  expect(named("const { send } = mail;\nmail['send']();")).toContain('2 lines name send');
  expect(excerptOf('await $x();', '$x')).toContain('one line names $x');
});

test('a mark that lies hides no line, and places that are not in the source mark nothing [B16]', () => {
  expect(excerptOf(PROGRAM, 'drop_table', at(4, 4, 4, 4))).toContain('  11 |   await drop_table({ name });');
  expect(excerptOf(PROGRAM, 'drop_table', at(0, 99, 1e9)).split('\n')[0]).toContain('is not known');
});

test('an excerpt is bounded, keeps the place of the call, and says how many lines it leaves out [B16]', () => {
  const source = Array.from({ length: 30_000 }, () => 'await send({});').join('\n');
  const excerpt = excerptOf(source, 'send', at(20_000));
  expect(excerpt.split('\n')).toHaveLength(42);
  expect(excerpt).toContain('> 20000 | await send({});');
  expect(excerpt).toContain('... and 29960 more lines that name it');
  const cut = excerptOf(`send(${'x'.repeat(10_000)})`, 'send');
  expect(cut.length).toBeLessThan(400);
  expect(cut).toContain('… 9806 more characters of this line');
});

test('hostile sources are searched in linear time [B16]', () => {
  for (const source of [
    `import ${' '.repeat(250_000)}x`,
    'import {\n'.repeat(25_000),
    `${'import '.repeat(30_000)};`,
    'send'.repeat(60_000),
    `import ${'a '.repeat(120_000)}`,
  ])
    excerptOf(source, 'send', at(1));
});
