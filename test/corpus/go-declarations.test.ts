import { describe, expect, test } from 'vitest';
import { declareGo, GO_HELPERS, goFile, goText, selectDeclarations } from '../../src/catalog/declarations/go/go.js';
import { loadToolsets, ofCorpus } from '../support/corpus.js';
import { GO_ROOTS, goBuild, unformatted } from '../support/go.js';
import { needs } from '../support/needs.js';

const allTools = () => loadToolsets().flatMap(({ tools }) => tools);

describe('Go declarations of the tools of the corpus', () => {
  test.each(GO_ROOTS)(
    'all tools compile in one package, and are as gofmt writes them, %s [E2]',
    {
      ...needs('go'),
      timeout: 180_000,
    },
    async (root) => {
      const { declarations, functions } = declareGo(allTools());
      expect(functions).toHaveLength(ofCorpus({ own: 436, reference: 1_312 }));
      // As Go's style has it; an underscore at the end keeps a name apart from a word of the language.
      expect(goText(declarations).match(/^(?:type|const|var) \w*[A-Za-z\d]_\w+/gm)).toBeNull();
      // Not as a program: linking takes its time and proves nothing more.
      const file = goFile([...GO_HELPERS, ...declarations]).replace('package main', 'package tools');
      expect(await unformatted(file)).toBe('');
      expect(await unformatted(`package main\n\n${goText(declarations)}`)).toBe('');
      expect(await goBuild(root, { 'tools.go': file })).toBe('');
    },
  );

  test('the agent and the compiler see the same types, in every detail', () => {
    const typesIn = (text: string) =>
      text.match(
        /^(?:type|const) [\p{L}\w]+|^func \p{L}[\p{L}\w]*|^var [\p{L}\w]+ func|^\t[\p{L}\w]+ +\S+ +`.*`$/gmu,
      ) ?? [];
    const normal = (lines: readonly string[]) =>
      lines.map((line) => line.replace(/^(?:func|var) ([\p{L}\w]+).*/u, 'function $1').replace(/ +/g, ' '));
    const { declarations } = declareGo(allTools());
    const compiled = normal(typesIn(declarations.map(({ code }) => code).join('\n')));
    expect(compiled.length).toBeGreaterThan(ofCorpus({ own: 2_000, reference: 10_000 }));
    for (const detail of ['full', 'compact', 'signatures'] as const)
      expect(normal(typesIn(goText(declareGo(allTools(), { detail }).declarations)))).toEqual(compiled);
  });

  test('a program that calls one of them is compiled with little else', () => {
    const { declarations, functions } = declareGo(allTools());
    const some = functions.filter((_, index) => index % 20 === 0);
    const sizes = some.map(({ name }) => goFile(selectDeclarations(declarations, (each) => each === name)).length);
    sizes.sort((left, right) => left - right);
    // Objects that take further keys bring how they are read and written.
    expect(sizes[Math.floor(sizes.length * 0.9)]).toBeLessThan(16_000);
  });
});
