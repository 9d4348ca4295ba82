import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';
import { describe, expect, test, vi } from 'vitest';
import { transpile } from './transpile.js';

// The same native code; beside the sources it has to be found by its own package.
vi.mock('./binding.js', () => import('oxc-transform'));

const codeOf = (source: string, language: 'typescript' | 'javascript' = 'typescript') => {
  const result = transpile(source, language);
  if (!result.ok) throw new Error(`rejected: ${result.failure.message}`);
  return result.code;
};
const failureOf = (source: string, language: 'typescript' | 'javascript' = 'typescript') => {
  const result = transpile(source, language);
  if (result.ok) throw new Error(`accepted: ${result.code}`);
  return result.failure;
};

describe('TypeScript', () => {
  test.each([
    ['annotations', 'const a: number = 1 as number; f<number>(5);', 'const a = 1;\nf(5);\n'],
    ['what only declares', 'interface A { a: 1 }\ntype B = A;\ndeclare const c: B;\nlet d!: string;', 'let d;\n'],
    [
      'non-null, satisfies, const',
      'a!.b; const c = {} satisfies object; const d = [1] as const;',
      'a.b;\nconst c = {};\nconst d = [1];\n',
    ],
    [
      'parameter properties',
      'class A { constructor(private readonly x: number) {} }',
      'class A {\n\tx;\n\tconstructor(x) {\n\t\tthis.x = x;\n\t}\n}\n',
    ],
    ['generics of arrow functions', 'const f = async <T,>(x: T): Promise<T> => x;', 'const f = async (x) => x;\n'],
    [
      'overloads',
      'function f(a: 1): 1; function f(a: 2): 2; function f(a: any) { return a }',
      'function f(a) {\n\treturn a;\n}\n',
    ],
  ])('loses %s and nothing else', (_, source, code) => {
    expect(codeOf(source)).toBe(code);
  });

  test('keeps its enums and namespaces as values', () => {
    expect(codeOf('enum Colour { Red = 1 }')).toContain('Colour["Red"] = 1');
    expect(codeOf('namespace Inner { export const deep = 5 }')).toContain('deep = 5');
  });

  test('keeps every import that is not a type import, so that a misspelt one is noticed', () => {
    expect(codeOf("import { a, type B } from 'x';\nimport type { C } from 'y';\nimport 'z';")).toBe(
      'import { a } from "x";\nimport "z";\n',
    );
  });

  test('keeps modern JavaScript as it is', () => {
    const source =
      'class A {\n\t#x = 1;\n\tstatic {}\n}\nawait import("x");\na ??= b?.c;\nfor await (const d of e) {}\n';
    expect(codeOf(source)).toBe(source);
  });
});

test('plain JavaScript is read as such: types are errors, and comparisons are comparisons', () => {
  expect(codeOf('f<number>(5);', 'javascript')).toBe('f < number > 5;\n');
  expect(failureOf('const a: number = 1;', 'javascript')).toMatchObject({ kind: 'syntax', position: { line: 1 } });
});

describe('the source map', () => {
  test('leads from the code that runs to the lines and columns that were written', () => {
    const source = 'interface Wide {\n  a: number;\n}\n\nconst ä: Wide = { a: 1 };  throw new Error(ä as never);';
    const result = transpile(source, 'typescript');
    if (!result.ok) throw new Error('rejected');
    const line = result.code.split('\n').findIndex((text) => text.includes('throw'));
    const found = originalPositionFor(new TraceMap(result.mapJson), { line: line + 1, column: 0 });
    expect(found).toMatchObject({ source: 'main.ts', line: 5, column: 27 });
  });

  test('holds no copy of the source', () => {
    const result = transpile('const secret: string = "kept once";', 'typescript');
    expect(result.ok && result.mapJson).not.toContain('kept once');
  });
});

describe('a syntax error', () => {
  test.each([
    ['const x = ;', { line: 1, column: 11 }],
    ['\n\n  const x = ;', { line: 3, column: 13 }],
    ["const é = 'ü🎉'; const x = ;", { line: 1, column: 28 }],
    ['let a = 1;\r\nlet b = ;', { line: 2, column: 9 }],
    ['if (', { line: 1, column: 5 }],
    ['let a = 1;\nlet a = 2;', { line: 2, column: 5 }],
  ])('in %j is at %o, counted in characters from 1', (source, position) => {
    expect(failureOf(source)).toMatchObject({ kind: 'syntax', name: 'SyntaxError', position });
  });

  test('shows its line with a mark under the place, also where the line is long', () => {
    expect(failureOf('const x = ;').message).toBe('Unexpected token\n1 | const x = ;\n  |           ^');
    const long = `${'a;'.repeat(5_000)} const x = ;${' b;'.repeat(5_000)}`;
    const [, shown = '', mark = ''] = failureOf(long).message.split('\n');
    expect(shown.length).toBeLessThan(200);
    expect(shown[mark.indexOf('^')]).toBe(';');
    expect(shown.slice(0, mark.indexOf('^'))).toMatch(/const x = $/);
  });

  test('says what to do, for a top-level return in our own words', () => {
    expect(failureOf('return 1').hint).toContain('globalThis.__codemode_result__');
    expect(failureOf('const x = ;').hint).toBeUndefined();
  });

  test('stays within what a message may have, whatever the source is', () => {
    const failure = failureOf(`const ${'x'.repeat(100_000)} ${'y'.repeat(100_000)} = ;`);
    expect(failure.message.length).toBeLessThanOrEqual(8_000);
    expect((failure.hint ?? '').length).toBeLessThanOrEqual(4_096);
  });
});
