import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'oxc-transform';
import { declareGo, GO_HELPERS, goFile } from '../../src/catalog/declarations/go/go.js';
import { declareModule } from '../../src/catalog/declarations/typescript/typescript.js';
import { packagesFor } from '../../src/catalog/packages/packages.js';
import { shownSchema, visibleTool } from '../../src/catalog/visible-tool.js';
import type { JsonObject } from '../../src/domain/json.js';
import type { Tool } from '../../src/domain/tool.js';
import { snapshotOf } from '../support/catalog.js';
import { GO_ROOTS } from '../support/go.js';
import { pure } from './fuzzer.js';
import type { Random } from './random.js';

/** Line breaks are ours; everything else that cannot be seen is a server's. Emoji keep what holds them together. */
const UNSEEN = /(?!\n|\t|\ufe0f|\u200d)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null', 'martian', ['string', 'null']];
const PYTHON = '/usr/bin/python3';

/** Names, words and schemas of tools, as declarations that a parser reads: our own for TypeScript, Python's and Go's own. */
export const declarationsInThreeLanguages = pure((random, note) => {
  const tools = [0, 1, 2].map((index) => visibleTool(toolOf(random, index)));
  const [server, name] = [random.text(), random.text()];
  note({ server, name, tools });

  for (const detail of ['full', 'compact', 'signatures'] as const) {
    const module = { path: 'fuzz', serverId: server, serverName: name, serverDescription: random.text(), tools };
    const { text } = declareModule(module, { detail });
    expectVisible(text, `TypeScript, ${detail}`);
    // The parser that reads agents' programs.
    const { errors } = transformSync('fuzz.ts', text, { lang: 'ts', sourceType: 'module' });
    if (errors.length > 0) throw new Error(`TypeScript does not parse: ${errors[0]?.message}\n${text}`);
  }
  for (const { inputSchema = {} } of tools) expectVisible(JSON.stringify(shownSchema(inputSchema)), 'a direct tool');

  // Starting another parser takes longer than everything above.
  if (!random.chance(20)) return;
  const own = tools.map(({ serverId: _, ...tool }) => tool);
  const snapshot = snapshotOf([{ id: server || 'fuzz', name, tools: own }]);
  const python = [...packagesFor(snapshot, 'python')].filter(([path]) => /\.pyi?$/.test(path));
  if (existsSync(PYTHON)) {
    for (const [path, text] of python) expectVisible(text, path);
    check(PYTHON, ['-W', 'error', '-c', PARSE_ALL], JSON.stringify(python), 'Python');
  }
  const [root] = GO_ROOTS;
  if (root !== undefined) {
    const go = goFile([...GO_HELPERS, ...declareGo(tools).declarations]);
    expectVisible(go, 'Go');
    check(join(root, 'bin/gofmt'), ['-e', '-l'], go, 'Go');
  }
});

const PARSE_ALL = `import ast, json, sys
for path, text in json.load(sys.stdin):
    ast.parse(text, path)`;

function check(command: string, args: readonly string[], input: string, language: string): void {
  const { status, stderr, stdout } = spawnSync(command, args, { input, encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error(`${language} does not parse: ${stderr.slice(0, 2_000)}${stdout.slice(0, 500)}`);
}

function expectVisible(text: string, where: string): void {
  const at = text.search(UNSEEN);
  if (at >= 0)
    throw new Error(`${where} shows U+${text.codePointAt(at)?.toString(16)}: ${text.slice(at - 40, at + 40)}`);
}

function toolOf(random: Random, index: number): Tool {
  return {
    serverId: 'fuzz',
    name: `${random.text()}${index}`,
    ...(random.chance(2) ? { title: random.text() } : {}),
    ...(random.chance(2) ? { description: random.text() } : {}),
    ...(random.chance(8) ? {} : { inputSchema: schemaOf(random, 4) }),
    ...(random.chance(2) ? { outputSchema: schemaOf(random, 3) } : {}),
    ...(random.chance(3) ? { annotations: { title: random.text(), readOnlyHint: random.chance(2) } } : {}),
  };
}

function schemaOf(random: Random, depth: number): JsonObject {
  const parts: JsonObject[] = [];
  const below = () => (depth > 0 ? schemaOf(random, depth - 1) : {});
  if (!random.chance(5)) parts.push({ type: random.pick(TYPES) as string });
  if (random.chance(2)) parts.push({ properties: Object.fromEntries(random.list(3, () => [random.key(), below()])) });
  if (random.chance(4)) parts.push({ required: random.list(3, () => random.key()) });
  if (random.chance(4)) parts.push({ items: random.chance(3) ? random.list(2, below) : below() });
  if (random.chance(4)) parts.push({ enum: random.list(4, () => random.json(1)) as never });
  if (random.chance(6)) parts.push({ const: random.json(1) as never });
  if (random.chance(3)) parts.push({ description: random.text(), title: random.text() });
  if (random.chance(5))
    parts.push({ default: random.json(2) as never, examples: random.list(2, () => random.json(1)) as never });
  if (random.chance(5)) parts.push({ format: random.text(), pattern: random.text() });
  if (random.chance(5)) parts.push({ [random.pick(['anyOf', 'oneOf', 'allOf'])]: random.list(3, below) });
  if (random.chance(5)) parts.push({ additionalProperties: random.chance(2) ? random.chance(2) : below() });
  if (random.chance(6)) parts.push({ $defs: Object.fromEntries(random.list(2, () => [random.key(), below()])) });
  if (random.chance(6)) parts.push({ $ref: random.pick(['#', '#/$defs/a', `#/$defs/${random.key()}`, random.text()]) });
  if (random.chance(12)) parts.push(random.json(3) as JsonObject);
  return Object.assign({}, ...parts.filter((part) => typeof part === 'object')) as JsonObject;
}
