// @ts-check
// The check of a program's types: the jailed compiler from nothing to its first verdict, and warm. Each check is of another
// program, as agents send them: five servers are imported, and more of them are connected in the second row.
import { join } from 'node:path';
import { ROOT } from '../../scripts/repository.mjs';
import { readToolsets } from '../corpus.mjs';
import { loadProduct } from '../product.mjs';
import { scaled, summarize, timeEach } from '../stats.mjs';

const SERVERS = 5;
const MANY_TOOLS = 2_000;
const CALLER = 'bench';

export async function measure({ quick }) {
  const {
    openJail,
    TypeCheckers,
    findCompiler,
    checkProgram,
    snapshotOf,
    LIBRARY_DECLARATIONS: library,
  } = await loadProduct();
  const configured = join(ROOT, 'node_modules', 'typescript-native');
  const compiler = findCompiler({ configured, installFolder: '/nonexistent', from: import.meta.url });
  const jail = await openJail({ isolation: 'strict' });
  const toolsets = readToolsets();
  const [few, many] = [snapshotOf(toolsets.slice(0, SERVERS)), snapshotOf(repeated(toolsets))];
  const start = await timeEach(scaled(5, quick), async () => {
    const cold = new TypeCheckers({ jail, compiler });
    await cold.check(CALLER, '1', { globals: '', module: () => undefined });
    await cold.close();
  });
  const checkers = new TypeCheckers({ jail, compiler });
  try {
    const rows = [
      { name: 'type checker: from nothing to the first verdict', unit: 'ms', p50: start.p50, p95: start.p95 },
    ];
    for (const [snapshot, words, goal] of /** @type {const} */ ([
      [few, `${SERVERS} servers`, 8],
      [many, `${many.toolByTarget.size} tools connected`, 12],
    ])) {
      const samples = [];
      for (let round = -20; round < scaled(200, quick); round++) {
        const source = program(few, round);
        const before = performance.now();
        const verdict = await checkProgram(checkers, { caller: CALLER, source, snapshot, library, scripts: [] });
        if (round >= 0) samples.push(performance.now() - before);
        if (!verdict.isChecked) throw new Error(verdict.reason);
      }
      const { p50, p95 } = summarize(samples);
      rows.push({ name: `types of 30 lines, warm, ${words}`, unit: 'ms', p50, p95, goal: { p50: goal } });
    }
    return rows;
  } finally {
    await checkers.close();
  }
}

/** The same servers under other names, until there are so many tools. */
function repeated(toolsets) {
  const all = [...toolsets];
  let count = all.reduce((sum, { tools }) => sum + tools.length, 0);
  for (let copy = 2; count < MANY_TOOLS; copy++)
    for (const { id, tools, ...rest } of toolsets) {
      all.push({ ...rest, id: `${id}-${copy}`, tools });
      count += tools.length;
    }
  return all;
}

/** Thirty lines that import one function of each of these servers. Another text each time. */
function program({ servers }, round) {
  const imports = servers.map(
    ({ path, tools }, index) => `import { ${tools[0].exportName} as f${index} } from '@codemode/servers/${path}';`,
  );
  const steps = servers.flatMap((_, index) => [
    `const input${index} = JSON.parse('{}');`,
    `const answer${index} = await f${index}(input${index});`,
    `const rows${index} = [answer${index}].flat().map((row) => ({ ...row, round: ${round} }));`,
    `for (const row of rows${index}) console.log(Object.keys(row).length, row.round);`,
  ]);
  const ending = [
    'const all = new Map();',
    ...servers.map((_, index) => `all.set('${index}', rows${index}.length);`),
  ].slice(0, 4);
  return [...imports, ...steps, ...ending, 'globalThis.__codemode_result__ = [...all];'].join('\n');
}
