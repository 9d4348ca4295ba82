import { describe, expect, test } from 'vitest';
import type { ModuleExport } from '../../domain/run.js';
import { Library } from './library.js';

const SPECIFIER = '@codemode/servers/test';

function sourceOf(...exports: ModuleExport[]): string {
  return new Library([{ specifier: SPECIFIER, exports }]).source(SPECIFIER) as string;
}

/** Runs the code of a module, with bindings that hand back what they were given. */
async function load(source: string): Promise<Record<string, unknown>> {
  const bindings = ['bindCall', 'bindCallSync', 'bindValue', 'bindCalls', 'bindNamespaces', 'bindFetch']
    .map((name) => `export const ${name} = (...given) => ['${name}', ...given];`)
    .join('\n');
  const url = (code: string) => `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`;
  return { ...(await import(url(source.replace('codemode:bindings', url(bindings))))) } as Record<string, unknown>;
}

/** Text that would end a string, a line, a statement or a comment if it were pasted into code. */
const HOSTILE = [
  `'); globalThis.escaped = 1; ('`,
  `"); globalThis.escaped = 1; ("`,
  '`${globalThis.escaped = 1}`',
  '\\',
  '\\"); globalThis.escaped = 1; //',
  'a\nglobalThis.escaped = 1;',
  'a\u2028globalThis.escaped = 1;\u2029',
  '*/ globalThis.escaped = 1; /*',
  '</script>',
  '\u0000\ud800',
];

describe('a module', () => {
  test('gives a binding for each export, by its kind', async () => {
    const source = sourceOf(
      { kind: 'call', name: 'listIssues', target: 'github/list_issues' },
      { kind: 'callSync', name: 'listNow', target: 'github/list_issues' },
      { kind: 'value', name: '__meta__', value: { a: [1, null] } },
    );
    expect(await load(source)).toEqual({
      listIssues: ['bindCall', 'listIssues', 'github/list_issues'],
      listNow: ['bindCallSync', 'listNow', 'github/list_issues'],
      __meta__: ['bindValue', '{"a":[1,null]}'],
    });
  });

  test('may export every name that is an identifier, reserved or not', async () => {
    const names = [
      'default',
      'class',
      'await',
      'eval',
      'arguments',
      '$',
      '_',
      '_0',
      'größe',
      '名前',
      'a\u200db',
      'bindCall',
      '__proto__',
      'constructor',
    ];
    const exports = names.map((name): ModuleExport => ({ kind: 'call', name, target: `test/${name}` }));
    const loaded = await load(sourceOf(...exports));
    expect(Object.entries(loaded).sort()).toEqual(
      names.map((name) => [name, ['bindCall', name, `test/${name}`]]).sort(),
    );
  });

  test.each(HOSTILE.map((text) => [JSON.stringify(text), text]))(
    'takes %s as a target, and as data',
    async (_, text) => {
      const source = sourceOf(
        { kind: 'call', name: 'call', target: text },
        { kind: 'value', name: 'value', value: { [text]: text } },
      );
      expect(await load(source)).toEqual({
        call: ['bindCall', 'call', text],
        value: ['bindValue', JSON.stringify({ [text]: text })],
      });
      expect((globalThis as Record<string, unknown>)['escaped']).toBeUndefined();
    },
  );

  test.each(
    [...HOSTILE, '', ' ', 'a b', 'a-b', '1a', 'a.b', 'a;b', 'a}', '"a"', 'a\\u0062', '\u200da', '🎉'].map((name) => [
      JSON.stringify(name),
      name,
    ]),
  )('with %s as the name of an export is refused before it is code', (shown, name) => {
    expect(() => sourceOf({ kind: 'call', name, target: 'test/x' })).toThrow(
      `${shown} cannot be the name of an export`,
    );
  });

  test('that is not there has no source and no exports', () => {
    const library = new Library([{ specifier: SPECIFIER, exports: [] }]);
    for (const specifier of ['', 'toString', '__proto__', 'constructor', SPECIFIER.toUpperCase()]) {
      expect(library.source(specifier)).toBeUndefined();
      expect(library.exportNames(specifier)).toEqual([]);
    }
    expect(library.specifiers).toEqual([SPECIFIER]);
  });

  test('of a missing or unavailable server throws a program error when it is imported', () => {
    const problem = { errorClass: 'ServerNotFoundError', message: 'down is not available: "x"', hint: 'h' };
    const library = new Library([
      { specifier: SPECIFIER, exports: [] },
      { specifier: '@codemode/servers/down', exports: [], problem },
    ]);
    for (const [specifier, message] of [
      ['@codemode/servers/down', problem.message],
      [`${SPECIFIER}s`, `there is no server "${SPECIFIER.split('/').at(-1)}s"`],
    ] as const) {
      expect(library.source(specifier)).toMatch(/^import \{ throwError \} from 'codemode:bindings'; throwError\("/);
      expect(library.problemOf(specifier)?.message).toBe(message);
    }
    expect(library.specifiers).toEqual([SPECIFIER]);
  });

  test('may have any text as its specifier', () => {
    for (const specifier of ['__proto__', 'constructor', ...HOSTILE]) {
      const library = new Library([{ specifier, exports: [{ kind: 'call', name: 'a', target: 'b' }] }]);
      expect(library.source(specifier)).toContain('bindCall("a", "b")');
      expect(library.exportNames(specifier)).toEqual(['a']);
    }
  });
});
