import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ModuleExport, VirtualModule } from '../../src/domain/run.js';
import { openSandbox, result, type TestSandbox } from '../support/sandbox.js';

/**
 * Servers and tools with names that shadow, collide or break out of generated code. The catalog cleans names before they
 * get here; these tests are what is behind it.
 */

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ max: 1 });
});
afterAll(() => box[Symbol.asyncDispose]());

const moduleWith = (specifier: string, ...exports: ModuleExport[]): VirtualModule[] => [{ specifier, exports }];
const callNamed = (name: string, target = `test/${name}`): ModuleExport => ({ kind: 'call', name, target });
const M = '@codemode/servers/m';
const made: string[] = [];
const functions = new Proxy(
  {},
  {
    get: () => (input: unknown, call: { target: string }) => {
      made.push(call.target);
      return { input };
    },
  },
);

describe('names that are identifiers work, and shadow nothing [A24]', () => {
  test.each([
    ...[
      'Promise',
      'console',
      'JSON',
      'Object',
      'Array',
      'Error',
      'Symbol',
      'globalThis',
      'undefined',
      'NaN',
      'bindCall',
    ],
    ...[
      'bindValue',
      'eval',
      'arguments',
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'valueOf',
      'hasOwnProperty',
    ],
    ...[
      'default',
      'await',
      'async',
      'enum',
      'class',
      'let',
      'static',
      'yield',
      'import',
      'export',
      'delete',
      'null',
      'true',
    ],
    ...[
      'get',
      'set',
      'of',
      'from',
      'as',
      '_0',
      '_1',
      '$',
      '_',
      'é',
      'Ω',
      '名前',
      'ℼ',
      'x'.repeat(128),
      'x'.repeat(1_000),
    ],
    ...['setTimeout', '__codemode_result__', 'Function', 'self', 'name', 'length', 'apply', 'catch', 'finally'],
  ])('%s', async (name) => {
    made.length = 0;
    const value = await box.value(
      `import * as m from '${M}';
       const other = await m.plain({ a: 1 });
       const mine = await m[${JSON.stringify(name)}]({ b: 2 });
       const again = await import('${M}');
       const { [${JSON.stringify(name)}]: alias } = again;
       ${result(`[other.input, mine.input, Object.keys(m).length, alias === m[${JSON.stringify(name)}], alias.name === ${JSON.stringify(name)}, typeof Promise.resolve, typeof JSON.stringify, typeof console.log, typeof Object.keys, [].concat(1)]`)}`,
      { functions, modules: moduleWith(M, callNamed(name), callNamed('plain')) },
    );
    expect(value).toEqual([{ a: 1 }, { b: 2 }, 2, true, true, 'function', 'function', 'function', 'function', [1]]);
    expect(made).toEqual(['test/plain', `test/${name}`]);
  });

  test('a tool called `then` is not called by importing its module', async () => {
    made.length = 0;
    const { outcome } = await box.run(
      `import * as m from '${M}'; const again = await import('${M}'); const back = await (async () => m)(); ${result('1')}`,
      { functions, modules: moduleWith(M, callNamed('then')), limits: { timeoutMs: 1_000 } },
    );
    expect(made).toEqual([]);
    expect(outcome.status).toBe('failed');
  });
});

describe('names that are not identifiers are refused as a whole and never become code [A24]', () => {
  const ESCAPE = 'globalThis.escaped = 1';
  test.each([
    ['nothing', ''],
    ['a space', 'a b'],
    ['a digit first', '1a'],
    ['a quote', `a' , ${ESCAPE} , '`],
    ['a double quote', `a" ; ${ESCAPE} ; "`],
    ['a backtick', `a\`\${${ESCAPE}}\``],
    ['a closing brace', `a }; ${ESCAPE}; export { x`],
    ['a newline', `a\n};${ESCAPE}//`],
    ['a carriage return', `a\r};${ESCAPE}//`],
    ['U+2028', `a\u2028};${ESCAPE}//`],
    ['U+2029', `a\u2029};${ESCAPE}//`],
    ['the end of a comment', `a */ ${ESCAPE} /*`],
    ['the start of a comment', `a/*`],
    ['an emoji', '🎉'],
    ['an emoji inside', 'a🎉b'],
    ['an escape', `a\\u0062`],
    ['NUL', 'a\0b'],
    ['a lone surrogate', 'a\ud800'],
    ['right-to-left marks', 'a\u202eb'],
    ['a zero-width space', 'a\u200bb'],
    ['a byte order mark', '\ufeffa'],
    ['a private name', '#a'],
    ['a closing script element', `</script><script>${ESCAPE}`],
  ])('%s', async (_, name) => {
    made.length = 0;
    const { outcome } = await box.run(
      `const got = await import('${M}').then((m) => Object.keys(m), (error) => error.name + ' ' + error.message.length); ${result('[got, typeof escaped]')}`,
      { functions, modules: moduleWith(M, callNamed(name), callNamed('plain')) },
    );
    expect(outcome).toEqual({
      status: 'completed',
      resultJson: expect.stringMatching(/^\["\w*Error \d+","undefined"\]$/),
    });
    expect(made).toEqual([]);
  });

  test('two exports of one name do not quietly become one of them', async () => {
    const { outcome } = await box.run(`import * as m from '${M}'; ${result('await m.a()')}`, {
      functions,
      modules: moduleWith(M, callNamed('a', 'test/first'), callNamed('a', 'test/second')),
    });
    expect(outcome).toMatchObject({ status: 'failed' });
  });
});

describe('targets, values and specifiers are text, whatever they hold [A25]', () => {
  const TEXTS = [
    `'`, `"`, '`', '\\', '\\\\', '\n', '\r', '\u2028', '\u2029', '*/', '//', '${1}', '</script>', '<!--', '-->', '\0',
    '\ud800', '🎉', '__proto__', '%s', '\\u0027', `"); globalThis.escaped = 1; ("`, `'); globalThis.escaped = 1; ('`,
    '\u202e', '\ufeff', 'x'.repeat(900),
  ]; // biome-ignore format: one text after the other
  test('a target arrives as it was given', async () => {
    const exports = TEXTS.map((text, index) => callNamed(`t${index}`, text));
    made.length = 0;
    const value = await box.value(
      `import * as m from '${M}'; for (let n = 0; n < ${TEXTS.length}; n++) await m['t' + n](); ${result('typeof escaped')}`,
      { functions, modules: moduleWith(M, ...exports) },
    );
    expect(value).toBe('undefined');
    // What is not Unicode cannot be sent as UTF-8; everything else is the same to the last character.
    const sent = (text: string) => text.replace(/[\ud800-\udfff\ufffd]+/g, (found) => (found === '🎉' ? found : '?'));
    expect(made.map(sent)).toEqual(TEXTS.map(sent));
  });

  test('a value arrives as it was given, keys included', async () => {
    const data = { list: TEXTS, ...Object.fromEntries(TEXTS.map((text, index) => [`${text}${index}`, text])) };
    const value = await box.value(`import { data } from '${M}'; ${result('[data, typeof escaped, ({}).x]')}`, {
      modules: moduleWith(M, { kind: 'value', name: 'data', value: JSON.parse(JSON.stringify(data)) }),
    });
    expect(value).toEqual([JSON.parse(JSON.stringify(data)), 'undefined', null]);
  });

  test.each([...TEXTS.map((text) => `@codemode/servers/${text}`), '__proto__', 'constructor', 'toString', 'then'])(
    'a server’s module can be called %j without touching another',
    async (specifier) => {
      const modules = [
        ...moduleWith(M, callNamed('plain')),
        ...moduleWith(specifier, callNamed('plain', 'test/other')),
      ];
      made.length = 0;
      const value = await box.value(
        `const got = await import(${JSON.stringify(specifier)}).then((m) => m.plain(1), () => 'refused');
         const plain = (await import('${M}')).plain; await plain(2); ${result('[typeof escaped, ({}).plain]')}`,
        { functions, modules },
      );
      expect(value).toEqual(['undefined', null]);
      expect(made.at(-1)).toBe('test/plain');
    },
  );

  test('names of Object.prototype that nobody exports are missing modules and exports', async () => {
    for (const specifier of ['__proto__', 'constructor', 'hasOwnProperty', 'toString']) {
      const { outcome } = await box.run(`await import('${specifier}')`, { modules: moduleWith(M, callNamed('a')) });
      expect(outcome).toMatchObject({ failure: { kind: 'import' } });
    }
    const { outcome } = await box.run(`import { constructor } from '${M}'`, { modules: moduleWith(M, callNamed('a')) });
    expect(outcome).toMatchObject({ failure: { kind: 'import' } });
  });
});
