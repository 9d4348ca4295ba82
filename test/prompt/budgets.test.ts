import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { beforeAll, describe, expect, test } from 'vitest';
import { briefCatalog } from '../../src/catalog/briefing/briefing.js';
import { serverDeclarations, serverDeclarationsWithin } from '../../src/catalog/briefing/server-declarations.js';
import { estimateTokens } from '../../src/catalog/briefing/tokens.js';
import type { CatalogSnapshot } from '../../src/catalog/snapshot.js';
import { exampleProgram } from '../../src/profiles/codemode/prompt/example-program.js';
import { LIBRARY_DECLARATIONS } from '../../src/profiles/codemode/prompt/library-declarations.js';
import { serverInstructions } from '../../src/profiles/codemode/prompt/server-instructions.js';
import { toolDescription } from '../../src/profiles/codemode/prompt/tool-description.js';
import { toolInputSchema, toolOutputSchema } from '../../src/profiles/codemode/prompt/tool-schemas.js';
import { codeBlocks, corpusSnapshot, type ServerFixture, SMALL_CATALOG, snapshotOf } from '../support/catalog.js';
import { ofCorpus } from '../support/corpus.js';
import { typeCheckPrograms } from '../support/type-check.js';

const DESCRIPTION_CHARACTERS = 2_048;
/** What the instructions cost with nothing connected, and the words around an index. */
const CONTRACT_TOKENS = 1_140;

const oneTool: ServerFixture = { id: 'one', tools: [{ name: 'read_it', inputSchema: { type: 'object' } }] };
const thousandServers = Array.from({ length: 1_000 }, (_, index) => ({
  id: `Server number ${index}`,
  description: 'Does a thing that nobody else does. '.repeat(10),
  tools: [{ name: `get_thing_${index}`, description: 'Gets the thing.' }],
}));
const longestExample: ServerFixture = {
  id: 'archive-of-all-the-papers-in-the-cellars',
  tools: [
    {
      name: 'list_all_the_papers_that_have_been_filed',
      inputSchema: {
        type: 'object',
        properties: {
          name_of_the_person_who_filed_the_papers: { type: 'string', default: 'somebody who worked in the north wing' },
          number_of_the_cellar: { const: 1 },
        },
        required: ['name_of_the_person_who_filed_the_papers', 'number_of_the_cellar'],
      },
    },
  ],
};

const many = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `tool_${index}`,
    description: 'Does it with great care. '.repeat(8),
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string', description: 'Any text. '.repeat(20) }, more: { type: 'boolean' } },
      required: ['text'],
    },
  }));

const CATALOGS: readonly [name: string, snapshot: () => CatalogSnapshot][] = [
  ['no servers', () => snapshotOf([])],
  ['one tool', () => snapshotOf([oneTool])],
  ['two servers', () => snapshotOf(SMALL_CATALOG)],
  ['1,000 servers with one tool each', () => snapshotOf(thousandServers)],
  ['the longest example there can be', () => snapshotOf([longestExample, ...thousandServers])],
  ['the servers of the corpus', corpusSnapshot],
];

// Only the last one differs from material to material.
for (const [name, makeSnapshot] of ofCorpus({ own: CATALOGS, reference: CATALOGS.slice(-1) })) {
  describe(`with ${name}`, () => {
    let snapshot: CatalogSnapshot;
    beforeAll(() => {
      snapshot = makeSnapshot();
    });

    test('the description has at most 2,048 characters in whole lines: contract, example, discovery', () => {
      for (const budgetTokens of [0, 12_000]) {
        const text = toolDescription({ briefing: briefCatalog(snapshot, { budgetTokens }) });
        expect(text.length).toBeLessThanOrEqual(DESCRIPTION_CHARACTERS);
        expect(text).toMatch(/^Runs a JavaScript/);
        expect(codeBlocks(text)).toHaveLength(1);
        expect(text).toContain('Find tools in a program');
        const last = text.split('\n').at(-1) as string;
        expect(last).toMatch(/^No server is connected now\.$|^- and \d+ more servers|^- \S+ \(\d+[^)]*\)/);
      }
    });

    test('a client that cuts instructions at 2,048 characters keeps all that is said of servers', () => {
      const briefing = briefCatalog(snapshot);
      const instructions = serverInstructions({ maySave: true, briefing });
      expect(instructions.indexOf(briefing.text) + briefing.text.length).toBeLessThanOrEqual(DESCRIPTION_CHARACTERS);
    });

    test.each([500, 4_000, 12_000, 25_000])(
      'what is said of the servers keeps a budget of %d tokens [A18]',
      (budgetTokens) => {
        const briefing = briefCatalog(snapshot, { budgetTokens });
        const tokens = countTokens(briefing.text);
        expect(briefing.estimatedTokens).toBeLessThanOrEqual(budgetTokens);
        expect(tokens).toBeLessThanOrEqual(budgetTokens);
        expect(countTokens(serverInstructions({ maySave: true, briefing })) - tokens).toBeLessThanOrEqual(
          CONTRACT_TOKENS,
        );
      },
    );

    test('every example and every declaration that is shown is valid TypeScript [A25]', () => {
      const files = new Map([['/modules.d.ts', LIBRARY_DECLARATIONS]]);
      const briefing = briefCatalog(snapshot);
      const { example } = briefing;
      for (const [index, code] of codeBlocks(serverInstructions({ maySave: true, briefing })).entries()) {
        const isProgram = code.startsWith('import ');
        if (code !== LIBRARY_DECLARATIONS) files.set(`/block${index}${isProgram ? '.ts' : '.d.ts'}`, code);
      }
      const server = example === undefined ? undefined : snapshot.serverByPath.get(example.path);
      if (server !== undefined && briefing.level === 'index') files.set('/server.d.ts', serverDeclarations(server));
      files.set('/example.ts', exampleProgram(example));
      expect(typeCheckPrograms(files)).toEqual([]);
    });
  });
}

test('the longest example leaves room for servers in the description', () => {
  const briefing = briefCatalog(snapshotOf([longestExample, ...thousandServers]));
  expect(briefing.example).toMatchObject({ path: longestExample.id, exportName: longestExample.tools[0]?.name });
  expect(toolDescription({ briefing }).match(/^- [a-z-]+-\d+ \(1\)/gm)?.length).toBeGreaterThan(4);
});

test('declarations of small servers come at once; many tools get an index and a way to the rest [A18]', () => {
  const all = serverInstructions({
    maySave: true,
    briefing: briefCatalog(snapshotOf(SMALL_CATALOG), { budgetTokens: 2_000 }),
  });
  expect(all).toContain('declare module "@codemode/servers/notes"');
  expect(all).toContain('declare module "@codemode/servers/clock"');
  const index = serverInstructions({
    maySave: true,
    briefing: briefCatalog(snapshotOf(thousandServers), { budgetTokens: 4_000 }),
  });
  expect(index).toContain("A server's types come with the first answer that imports it");
  expect(index).toMatch(/\n- and \d+ more servers with \d+ tools: await listServers\(\)/);
});

describe('on the tools of the corpus', () => {
  test('the estimate of tokens is near the count of o200k', () => {
    const ratios = corpusSnapshot()
      .servers.flatMap((server) => [
        serverDeclarations(server, 'compact'),
        serverDeclarations(server, 'signatures'),
        JSON.stringify(server.tools.map(({ tool }) => tool)),
        server.tools.map(({ exportName }) => exportName).join(', '),
      ])
      .map((text) => ({ tokens: countTokens(text), estimate: estimateTokens(text) }))
      .filter(({ tokens }) => tokens >= 150)
      .map(({ tokens, estimate }) => estimate / tokens)
      .sort((left, right) => left - right);
    expect(ratios.length).toBeGreaterThan(ofCorpus({ own: 60, reference: 90 }));
    // Our own servers are more extreme than real ones: long lists of values, long lists of names, ten levels of nesting.
    expect(ratios[0]).toBeGreaterThan(ofCorpus({ own: 0.75, reference: 0.87 }));
    expect(ratios.at(-1)).toBeLessThan(ofCorpus({ own: 1.3, reference: 1.25 }));
    expect(ratios[Math.floor(ratios.length / 2)]).toBeGreaterThan(1.02);
  });

  test('the index names every tool within 12,000 tokens, and most parameters within 25,000 [A18]', () => {
    const snapshot = corpusSnapshot();
    const tools = snapshot.servers.flatMap((server) => server.tools);
    const { text } = briefCatalog(snapshot, { budgetTokens: 12_000 });
    const lines = new Map(text.split('\n').map((line) => [line.slice(2, line.indexOf(' (')), line]));
    const unnamed = tools.filter(({ server, exportName }) => {
      const words = lines.get(server.path)?.split(/[^\p{L}\w$]+/u) ?? [];
      return !words.includes(exportName);
    });
    expect(unnamed.map(({ target }) => target)).toEqual([]);
    const more = briefCatalog(snapshot, { budgetTokens: 25_000 }).text;
    expect(more.match(/[\p{L}\w]\(/gu)?.length ?? 0).toBeGreaterThan(tools.length / 2);
  });

  test('everything read before the first program fits 2,500 tokens, function parameters last', () => {
    const briefing = briefCatalog(corpusSnapshot());
    const instructions = serverInstructions({ maySave: true, briefing });
    const schemas = JSON.stringify([toolInputSchema(), toolOutputSchema()]);
    const read = [instructions, toolDescription({ briefing }), schemas].map((text) => countTokens(text));
    expect(read.reduce((sum, tokens) => sum + tokens, 0)).toBeLessThanOrEqual(2_500);
    expect(briefing.parameters).toMatch(/^(?:- [a-z0-9-]+: [\p{L}\w]+\([\w?, …]*\).*\n)+$/u);
    expect(instructions.endsWith(`## Parameters of functions\n\n${briefing.parameters.trimEnd()}`)).toBe(true);
    expect(countTokens(briefing.parameters)).toBeLessThanOrEqual(50);
    // Who sets a budget has set it for all that is said of the servers.
    expect(briefCatalog(corpusSnapshot(), { budgetTokens: 500 }).parameters).toBe('');
  });

  test('parameters that the index has already are not said twice', () => {
    const few = ['a', 'b', 'c'].map((id) => ({ id, tools: many(8) }));
    const { level, text, parameters } = briefCatalog(snapshotOf(few));
    expect([level, text.includes('tool_7(text, more?)'), parameters]).toEqual(['index', true, '']);
    const servers = Array.from({ length: 18 }, (_, index) => ({ id: `notes-${index}`, tools: many(4) }));
    const crowded = briefCatalog(snapshotOf([...servers, { id: 'large', tools: many(40) }]));
    expect(crowded.parameters.split('\n')[0]).toMatch(
      /^- notes-\d+: tool_0\(text, more\?\), .*tool_3\(text, more\?\)$/,
    );
    expect(crowded.parameters).not.toContain('large');
  });

  test('the declarations of any server come within 8,000 tokens [A18]', () => {
    for (const server of corpusSnapshot().servers) {
      const preferred = server.tools.slice(0, 3);
      const { text } = serverDeclarationsWithin(server, 8_000, preferred);
      expect(countTokens(text)).toBeLessThanOrEqual(8_000);
      for (const { exportName } of preferred) expect(text).toContain(`export function ${exportName}(`);
    }
  });
});
