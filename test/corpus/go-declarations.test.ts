import { describe, expect, test } from 'vitest';
import { declareGo, GO_HELPERS, goFile, goText, selectDeclarations } from '../../src/catalog/declarations/go.js';
import { GO_ROOTS, goBuild, unformatted } from '../support/go.js';
import { needs } from '../support/needs.js';
import { needsShared } from '../support/shared.js';
import { loadToolsets } from '../support/shared-corpus.js';

const realTools = () => loadToolsets().flatMap(({ tools }) => tools);

describe('Go declarations of real tools', needsShared('corpus/toolsets'), () => {
  test.each(GO_ROOTS)(
    'all 1,312 tools compile in one package, and are as gofmt writes them, %s [E2]',
    {
      ...needs('go'),
      timeout: 180_000,
    },
    async (root) => {
      const { declarations, functions } = declareGo(realTools());
      expect(functions).toHaveLength(1_312);
      // As Go's style has it.
      expect(goText(declarations).match(/^(?:type|const|var) \w*[A-Za-z\d]_\w*/gm)).toBeNull();
      // Not as a program: linking takes its time and proves nothing more.
      const file = goFile([...GO_HELPERS, ...declarations]).replace('package main', 'package tools');
      expect(await unformatted(file)).toBe('');
      expect(await unformatted(`package main\n\n${goText(declarations)}`)).toBe('');
      expect(await goBuild(root, { 'tools.go': file })).toBe('');
    },
  );

  test('the agent and the compiler see the same types, in every detail', () => {
    const typesIn = (text: string) =>
      text.match(/^(?:type|const) \w+|^func [\p{L}]\w*|^var \w+ func|^\t\w+ +\S+ +`.*`$/gmu) ?? [];
    const normal = (lines: readonly string[]) =>
      lines.map((line) => line.replace(/^(?:func|var) (\w+).*/, 'function $1').replace(/ +/g, ' '));
    const { declarations } = declareGo(realTools());
    const compiled = normal(typesIn(declarations.map(({ code }) => code).join('\n')));
    expect(compiled.length).toBeGreaterThan(10_000);
    for (const detail of ['full', 'compact', 'signatures'] as const)
      expect(normal(typesIn(goText(declareGo(realTools(), { detail }).declarations)))).toEqual(compiled);
  });

  test('a program that calls one of them is compiled with little else', () => {
    const { declarations, functions } = declareGo(realTools());
    const some = functions.filter((_, index) => index % 20 === 0);
    const sizes = some.map(({ name }) => goFile(selectDeclarations(declarations, (each) => each === name)).length);
    sizes.sort((left, right) => left - right);
    expect(sizes[Math.floor(sizes.length * 0.9)]).toBeLessThan(10_000);
  });
});
