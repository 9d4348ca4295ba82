import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exportNames } from '../../src/catalog/names.js';
import { namespacesOf } from '../../src/catalog/namespaces.js';
import { camelCaseNames } from '../../src/catalog/package-names.js';
import type { CatalogSnapshot } from '../../src/catalog/snapshot.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/domain/json.js';
import type { CallerId } from '../../src/domain/run.js';
import type { TypeProblem } from '../../src/domain/type-check.js';
import { namedNamespaces } from '../../src/host/check/named-namespaces.js';
import { checkProgram } from '../../src/host/check/program-check.js';
import { moduleOf } from '../../src/host/processes/process-packages.js';
import { LIBRARY_DECLARATIONS } from '../../src/profiles/codemode/prompt/library-declarations.js';
import { findCompiler } from '../../src/sandbox/checker/compiler.js';
import { TypeCheckers } from '../../src/sandbox/checker/type-checkers.js';
import { snapshotOf } from '../support/catalog.js';
import { loadToolsets, ofCorpus } from '../support/corpus.js';
import { byTool, type Call, isTaken, validCalls } from '../support/corpus-calls.js';
import { jailForTests } from '../support/jailed.js';

const { jail, options } = await jailForTests('strict');
const CALLER = 'corpus' as CallerId;
describe('programs over the tools of the corpus', options, () => {
  const toolsets = loadToolsets();
  const snapshot = snapshotOf(toolsets);
  const calls = snapshot.servers.flatMap(({ path, tools }) =>
    validCalls(
      path,
      tools.map(({ tool }) => tool),
      exportNames,
    ),
  );
  let checkers: TypeCheckers;

  beforeAll(() => {
    const configured = join(import.meta.dirname, '../../node_modules/typescript-native');
    const compiler = findCompiler({ configured, installFolder: '/nonexistent', from: import.meta.url });
    // A loaded machine is no bomb.
    checkers = new TypeCheckers({ jail: jail as never, compiler, limits: { checkMs: 30_000 } });
  });

  afterAll(() => checkers.close());

  async function problemsOf(source: string): Promise<readonly TypeProblem[]> {
    const verdict = await checkProgram(checkers, {
      caller: CALLER,
      source,
      snapshot,
      library: LIBRARY_DECLARATIONS,
      scripts: [],
      tellsSyntax: true,
    });
    if (!verdict.isChecked) throw new Error(verdict.reason);
    return verdict.problems;
  }

  async function errorsOf(source: string): Promise<readonly TypeProblem[]> {
    return (await problemsOf(source)).filter(({ severity }) => severity === 'error');
  }

  test('a valid call of any tool, in any style, is not an error', { timeout: 120_000 }, async () => {
    const tools = byTool(calls);
    const alarms: unknown[] = [];
    for (const source of programsOf(tools, validProgram)) {
      const lines = source.text.split('\n');
      for (const { message, position } of await errorsOf(source.text))
        alarms.push({ server: source.server, message, line: lines[position.line - 1] });
    }
    expect(alarms).toEqual([]);
    expect(tools.length).toBeGreaterThanOrEqual(ofCorpus({ own: 400, reference: 1_200 }));
  });

  test('bodies of contract unified: valid calls are accepted, 95 of 100 mistakes are found', {
    timeout: 120_000,
  }, async () => {
    const alarms: unknown[] = [];
    const caught = { all: 0, found: 0, missed: [] as string[] };
    let valid = 0;
    for (const [server, text] of bodiesOf(snapshot)) {
      const program = { caller: CALLER, source: text, snapshot, library: '', scripts: [], tellsSyntax: true as const };
      const verdict = await checkProgram(checkers, { ...program, namespaces: namedNamespaces(text, snapshot) });
      const errors = verdict.isChecked ? verdict.problems.filter(({ severity }) => severity === 'error') : [];
      const wrong = new Map(errors.map(({ position, message }) => [position.line, message]));
      for (const [index, line] of text.split('\n').entries()) {
        const isMistake = line.includes('// mistake: ');
        const said = wrong.get(index + 1);
        if (!isMistake) {
          valid += 1;
          if (said !== undefined) alarms.push({ server, said, line });
          continue;
        }
        caught.all += 1;
        if (said === undefined) caught.missed.push(`${server}: ${line}`);
        else caught.found += 1;
      }
    }
    expect(alarms).toEqual([]);
    expect(valid).toBeGreaterThan(1_000);
    expect(caught.found / caught.all, caught.missed.slice(0, 20).join('\n')).toBeGreaterThanOrEqual(0.95);
  });

  test('a body that leaves a bracket open is an error at its end', async () => {
    const source = 'const a = await mcp.desk.find({});\nreturn [a';
    const program = { caller: CALLER, source, snapshot, library: '', scripts: [], namespaces: [] };
    expect(await checkProgram(checkers, { ...program, tellsSyntax: true })).toMatchObject({
      problems: [{ severity: 'error', position: { line: 2, column: 10 } }],
    });
    // A run leaves it to its engine.
    expect(await checkProgram(checkers, program)).toMatchObject({ problems: [] });
  });

  test('Node programs of the runner: valid calls are accepted, 95 of 100 mistakes are found', {
    timeout: 120_000,
  }, async () => {
    const alarms: unknown[] = [];
    const missed: string[] = [];
    let mistakes = 0;
    for (const server of snapshot.servers) {
      const tools = server.tools.map(({ tool }) => tool);
      // One call of each tool is enough: what its arguments may be is the same as in modules.
      const own = byTool(validCalls(server.path, tools, camelCaseNames)).map((same) => same.slice(0, 1));
      const file = `./servers/${moduleOf(server, snapshot)}/index.js`;
      const ofNode = (text: string) => text.replaceAll(`@codemode/servers/${server.path}`, file);
      for (const { text } of programsOf(own, validProgram)) alarms.push(...(await errorsOf(ofNode(text))));
      for (const { text } of programsOf(own, mistakenProgram)) {
        const source = ofNode(text);
        const wrong = new Set((await errorsOf(source)).map(({ position }) => position.line));
        for (const [index, line] of source.split('\n').entries()) {
          // Node itself refuses an import of what does not exist, before the program begins.
          if (!/\/\/ mistake: (?!wrong import)/.test(line)) continue;
          mistakes += 1;
          if (!wrong.has(index + 1)) missed.push(line);
        }
      }
    }
    expect(alarms).toEqual([]);
    expect(mistakes).toBeGreaterThan(1_000);
    expect(1 - missed.length / mistakes, missed.slice(0, 20).join('\n')).toBeGreaterThanOrEqual(0.95);
    if (process.env.CODEMODE_SHOW === '1') console.log(`Node: ${mistakes - missed.length} of ${mistakes}`);
  });

  test.each(STYLES)('%s is no error', async (_, body) => {
    const server = { id: 'desk', tools: DESK } as const;
    const own = snapshotOf([server]);
    const source = `import { find, create } from '@codemode/servers/desk'; import * as desk from '@codemode/servers/desk';\n${body}`;
    const program = { caller: CALLER, source, snapshot: own, library: LIBRARY_DECLARATIONS, scripts: [] };
    const verdict = await checkProgram(checkers, { ...program, tellsSyntax: true });
    const problems = verdict.isChecked ? verdict.problems : [verdict];
    expect(problems.filter((each) => !('severity' in each) || each.severity === 'error')).toEqual([]);
  });

  test('95 of 100 programs with one mistake are stopped', { timeout: 120_000 }, async () => {
    const caught: Record<string, { all: number; found: number; missed: string[] }> = {};
    for (const { server, text } of programsOf(byTool(calls), mistakenProgram)) {
      const wrong = new Set((await errorsOf(text)).map(({ position }) => position.line));
      for (const [index, line] of text.split('\n').entries()) {
        const kind = /\/\/ mistake: (.+)$/.exec(line)?.[1];
        if (kind === undefined) continue;
        caught[kind] ??= { all: 0, found: 0, missed: [] };
        const count = caught[kind];
        count.all += 1;
        if (wrong.has(index + 1)) count.found += 1;
        else count.missed.push(`${server}: ${line}`);
      }
    }
    const all = Object.values(caught).reduce((sum, each) => sum + each.all, 0);
    const found = Object.values(caught).reduce((sum, each) => sum + each.found, 0);
    const shares = Object.entries(caught).map(([kind, each]) => `${kind} ${each.found} of ${each.all}`);
    const missed = Object.values(caught).flatMap((each) => each.missed);
    expect(found / all, `${shares.join(', ')}\n${missed.slice(0, 40).join('\n')}`).toBeGreaterThanOrEqual(0.95);
    expect(all).toBeGreaterThan(1_000);
    if (process.env.CODEMODE_SHOW === '1') console.log(shares.join(', '), `\n${missed.join('\n')}`);
  });
});

const DESK = [
  {
    name: 'find',
    inputSchema: {
      type: 'object',
      properties: {
        state: { enum: ['open', 'closed'] },
        limit: { type: 'integer' },
        tags: { type: 'array', items: { type: 'string' } },
        filter: { type: 'object', properties: { field: { type: 'string' } }, required: ['field'] },
      },
    },
    outputSchema: {
      type: 'object',
      properties: { items: { type: 'array', items: { type: 'object', properties: { id: { type: 'string' } } } } },
    },
  },
  {
    name: 'create',
    inputSchema: {
      type: 'object',
      properties: { title: { type: 'string' }, size: { type: 'number' } },
      required: ['title'],
    },
  },
];

/** What agents write that a strict compiler dislikes, and that works. */
const STYLES: readonly (readonly [string, string])[] = [
  ['a property that is added later', 'const input = {}; input.title = "a"; await create(input);'],
  ['a variable that changes its type', 'let value = 5; value = "five"; await create({ title: value });'],
  ['a variable that is awaited into itself', 'let r = find({}); r = await r; console.log(r.items, r[0]);'],
  [
    'a property that the output does not declare',
    'const { total, items } = await find({}); console.log(total, items[0].name);',
  ],
  [
    'an answer without a declared type',
    'const made = await create({ title: "a" }); console.log(made.id.slice(1), made.rows.map((r) => r.x));',
  ],
  [
    'an optional answer',
    'const { items } = await find({}); for (const item of items) await create({ title: item.id });',
  ],
  ['a state from a variable', 'for (const state of ["open", "closed"]) await find({ state });'],
  [
    'conditional properties',
    'const more = true; await find({ limit: 5, ...(more ? { state: "open" } : {}), ...(more && { tags: [] }) });',
  ],
  ['an optional property that may be misspelt', 'await create({ title: "a", sise: 1 }); await find({ lmit: 5 });'],
  ['an argument that is more than is declared', 'await create({ title: "a", priority: "high" });'],
  ['an input from JSON', 'const input = JSON.parse("{}"); await create(input); await find({ filter: input.filter });'],
  ['undefined for what is optional', 'const limit = undefined; await find({ limit, state: undefined });'],
  ['functions by name', 'const name = "find"; const r = await desk[name]({}); console.log(r.items.length);'],
  ['a function that is passed on', 'const call = (tool, input) => tool(input); await call(create, { title: "a" });'],
  [
    'a wrapper that catches',
    'const safe = (p) => p.catch(() => null); const r = await safe(create({})); console.log(r?.id);',
  ],
  [
    'a retry',
    'const retry = async (f) => { for (let n = 0; n < 3; n++) try { return await f(); } catch {} }; await retry(() => create({ title: 5 }));',
  ],
  [
    'promises in an object',
    'const jobs = { a: find({}), b: create({ title: "a" }) }; const [a, b] = await Promise.all([jobs.a, jobs.b]); console.log(a.items, b.id);',
  ],
  [
    'promises in a list',
    'const jobs = ["a", "b"].map((title) => create({ title })); const made = await Promise.all(jobs); console.log(jobs.length, made[0].id);',
  ],
  [
    'a promise that is chained',
    'const id = await find({}).then(({ items }) => items.at(0)?.id).finally(() => {}); console.log(id);',
  ],
  [
    'a promise that is kept for later',
    'const pending = find({}); console.log("waiting"); const { items } = await pending; console.log(items.length);',
  ],
  [
    'a race against a timer',
    'const r = await Promise.race([find({}), new Promise((go) => setTimeout(go, 5))]); console.log(r?.items);',
  ],
  [
    'a cache of promises',
    'const cache = new Map(); const get = (k) => cache.get(k) ?? cache.set(k, create({ title: k })).get(k); console.log((await get("a")).id);',
  ],
  ['a promise with a property of its own', 'const job = find({}); job.label = "x"; console.log(job.label); await job;'],
  [
    'a parameter with the name of a tool',
    'const run = (create) => create({}); run((x) => x); [find].map((create) => create);',
  ],
  [
    'types of its own',
    'interface Row { id: string } const rows: Row[] = (await find({})).items as Row[]; const input: any = {}; await create(input);',
  ],
  [
    'a class',
    'class Job { constructor(t) { this.t = t; } run() { return create({ title: this.t }); } } console.log((await new Job("a").run()).id);',
  ],
  [
    'texts with code in them',
    'await create({ title: "create({})" }); await create({ title: `find({ limit: "x" })` }); // create({})',
  ],
  ['regular expressions', 'const m = "a/b".replace(/\\/|[({]/g, ""); await create({ title: m.split(/[/]/)[0] });'],
  [
    'dynamic imports',
    "const { find: search } = await import('@codemode/servers/desk'); console.log((await search({})).items);",
  ],
  [
    'a type that is imported and does not exist',
    "import type { Row } from '@codemode/servers/desk'; const rows: Row[] = []; console.log(rows);",
  ],
  [
    'names that the sandbox lacks, asked for',
    'if (typeof fetch !== "undefined" && typeof process !== "undefined") console.log(process.env); await find();',
  ],
  [
    'an iterator over pages',
    'async function* pages() { for (let n = 1; n < 3; n++) yield await find({ limit: n }); } for await (const { items } of pages()) console.log(items);',
  ],
  [
    'search results',
    "import { searchTools } from '@codemode/discovery'; const { results } = await searchTools('x', { detail: 'full' }); console.log(results[0].inputSchema.properties);",
  ],
];

/** A check takes about as long for ten tools as for one. */
const MAX_CHARACTERS_TOGETHER = 20_000;

/** Programs with the parts of many tools of one server. A part gets a mark for the names of its variables. */
function programsOf(tools: readonly Call[][], partOf: (same: readonly Call[], mark: string) => string) {
  const programs: { server: string; text: string }[] = [];
  for (const [index, same] of tools.entries()) {
    const server = same[0]?.server ?? '';
    const part = partOf(same, `_${index}`);
    const last = programs.at(-1);
    if (last?.server === server && last.text.length + part.length < MAX_CHARACTERS_TOGETHER) last.text += `\n${part}`;
    else programs.push({ server, text: `import * as all from '@codemode/servers/${server}';\n${part}` });
  }
  return programs;
}

/** The ways in which agents write a call. */
function validProgram(same: readonly Call[], mark: string): string {
  const [first] = same as readonly [Call, ...Call[]];
  const { name } = first;
  const body = same.flatMap(({ input }, index) => {
    const json = JSON.stringify(input);
    const [a, b, i] = ['a', 'b', 'i'].map((letter) => `${letter}${index}${mark}`);
    return [
      `const ${a} = await ${name}(${json});`,
      `const ${i} = ${json}; await all.${name}(${i});`,
      `const ${b} = await all['${name}']({ ...${i} });`,
      `for (const row of [${a}].flat()) console.log(row?.id ?? row, ${b});`,
    ];
  });
  const [list, all2, head, later, built, then, data, rows] = [
    ...['list', 'all2', 'head', 'later', 'built', 'then', 'data', 'rows'].map((word) => `${word}${mark}`),
  ];
  const json = JSON.stringify(first.input);
  return [
    `import { ${name} } from '@codemode/servers/${first.server}';`,
    ...body,
    `const ${list} = []; for (let n = 0; n < 2; n++) ${list}.push(${name}(${json}));`,
    `const ${all2} = await Promise.all(${list}); const [${head}] = ${all2};`,
    `let ${later} = ${name}(${json}); ${later} = await ${later}; console.log(${later}.anything, ${later}[0]);`,
    `const ${built} = {}; for (const [k, v] of Object.entries(i0${mark})) ${built}[k] = v; await ${name}(${built});`,
    `const ${then} = await ${name}(${json}).then((r) => r); const ${data} = ${then} as any;`,
    `const ${rows} = ${data}?.items?.map((x) => x.name) ?? [];`,
    `globalThis.__codemode_result__ = { all2: ${all2}, head: ${head}, rows: ${rows} };`,
  ].join('\n');
}

/** A line for each mistake, with its kind at the end. */
function mistakenProgram([call]: readonly Call[]): string {
  const { server, name } = call as Call;
  const mutants = mutantsOf(call as Call).map(({ kind, line }) => `${line} // mistake: ${kind}`);
  return [
    `import { ${name} } from '@codemode/servers/${server}';`,
    // An import of what does not exist is said at the import.
    `import { ${name}_y } from '@codemode/servers/${server}'; // mistake: wrong import`,
    `await ${name}_y({});`,
    ...mutants,
  ].join('\n');
}

/** Bodies with calls of many tools of one server: by name, by position and through variables, and each mistake on a line of its own. */
function bodiesOf(snapshot: CatalogSnapshot): [server: string, text: string][] {
  return namespacesOf(snapshot).flatMap(({ name: namespace, server, methods }): [string, string][] => {
    if (!isDeclarable(namespace) || !methods.every(({ name }) => isDeclarable(name))) return [];
    const names = () => new Map(methods.map(({ name, tool }) => [tool.tool.name, name]));
    const calls = validCalls(
      server.path,
      methods.map(({ tool }) => tool.tool),
      names,
    );
    const lines = byTool(calls).flatMap((same, index) => {
      const [first] = same as [Call, ...Call[]];
      const called = `mcp.${namespace}.${first.name}`;
      const right = same.flatMap(({ input }, number) => [
        `const a${index}_${number} = await ${called}(${asCode(input)}); console.log(a${index}_${number}.x);`,
        `const i${index}_${number} = ${JSON.stringify(input)}; await ${called}(i${index}_${number});`,
        `await mcp['${namespace}']['${first.name}'](${JSON.stringify(input)});`,
        // One object alone is the input by name.
        ...(Object.values(input).length === 1 && isJsonObject(Object.values(input)[0])
          ? []
          : [`await ${called}(${Object.values(input).map(asCode).join(', ')});`]),
      ]);
      const mutants = mutantsOf(first)
        .map(({ kind, line }) => ({
          kind,
          line: line.replace(`all.${first.name}_x`, `mcp.${namespace}.${first.name}_x`),
        }))
        .map(({ kind, line }) => ({
          kind,
          line: line.replace(new RegExp(`(?<![.\\w$])${first.name}\\(`), `${called}(`),
        }));
      return [...right, ...mutants.map(({ kind, line }) => `${line} // mistake: ${kind}`)];
    });
    const parts: [string, string][] = [];
    for (let from = 0; from < lines.length; from += LINES_TOGETHER)
      parts.push([namespace, lines.slice(from, from + LINES_TOGETHER).join('\n')]);
    return parts;
  });
}

const LINES_TOGETHER = 150;

function isDeclarable(name: string): boolean {
  return exportNames([name]).get(name) === name;
}

interface Mutant {
  readonly kind: string;
  readonly line: string;
}

/** One mistake each that the broker, or the engine, would refuse. */
function mutantsOf({ tool, name, input }: Call): Mutant[] {
  const mutants: Mutant[] = [
    { kind: 'wrong tool', line: `await all.${name}_x(${asCode(input)});` },
    { kind: 'missing await', line: `console.log(${name}(${asCode(input)}).items);` },
    { kind: 'missing await', line: `for (const row of ${name}(${asCode(input)})) console.log(row);` },
  ];
  const refused = (changed: JsonObject) => !isTaken({ tool, name }, changed);
  const add = (kind: string, changed: JsonObject) => {
    if (refused(changed)) mutants.push({ kind, line: `await ${name}(${asCode(changed)});` });
  };
  for (const key of Object.keys(input).slice(0, 3)) {
    const { [key]: value, ...without } = input;
    add('missing', without);
    add('misspelt', { ...without, [`${key}x`]: value as JsonValue });
    add('wrong type', { ...input, [key]: typeof value === 'string' ? 12_345 : 'words' });
  }
  return mutants;
}

/** As agents write it: names without quotes. */
function asCode(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(asCode).join(', ')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, each]) => {
    return `${/^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key)}: ${asCode(each)}`;
  });
  return `{ ${entries.join(', ')} }`;
}
