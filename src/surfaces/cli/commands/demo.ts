import { HostError } from '../../../domain/errors.js';
import type { CallerId } from '../../../domain/execution.js';
import { DEFAULT_LIMITS } from '../../../domain/limits.js';
import { codemodePresentation } from '../../../profiles/codemode/presentation.js';
import { renderResponse } from '../../../profiles/codemode/render.js';
import type { Register } from '../command.js';
import type { Composed } from '../composed.js';
import { printableJson, styled } from '../terminal.js';

const PROGRAM = `interface Order { customer: string; total: number }

const orders: Order[] = Array.from({ length: 10_000 }, (_, i) => ({
  customer: ['ada', 'grace', 'linus'][i % 3],
  total: (i * 37) % 500,
}));

const byCustomer = Object.groupBy(orders, (order) => order.customer);
const totals = Object.fromEntries(
  Object.entries(byCustomer).map(([customer, list]) => [customer, list.reduce((sum, { total }) => sum + total, 0)]),
);
console.log('orders read:', orders.length);
globalThis.__codemode_result__ = totals;
`;

/** Fresh sandboxes in a row: the first pays for compiling the engine, the rest show what a run costs. */
const RUNS = 200;

export const register: Register = (program, context) => {
  program
    .command('demo')
    .description('run an example program and show its result, logs and timing')
    .action(async () => {
      context.exitWith(await demo(() => context.compose()));
    });
};

/** An example program in the sandbox, with its result, logs and timing. */
async function demo(compose: () => Promise<Composed>): Promise<number> {
  const startedAt = performance.now();
  const { host } = await compose();
  await using _ = host;
  await host.warm();
  const readyMs = performance.now() - startedAt;
  const session = host.openSession({
    caller: 'demo' as CallerId,
    presentation: codemodePresentation,
    codeMode: { enabled: true, excludedTools: [] },
    reservedNames: [],
    maxResultBytes: Number.POSITIVE_INFINITY,
  });
  const runOnce = async (source: string) => {
    const answer = await session.run({ source, language: 'typescript', limits: DEFAULT_LIMITS });
    if (answer.state === 'running') throw new HostError('internal', 'the demo program did not end');
    return answer.summary;
  };
  const first = await runOnce(PROGRAM);
  const times: number[] = [];
  for (let index = 0; index < RUNS; index++) {
    const from = performance.now();
    await runOnce('globalThis.__codemode_result__ = 6 * 7;');
    times.push(performance.now() - from);
  }
  times.sort((left, right) => left - right);
  const out = (line: string) => process.stdout.write(`${line}\n`);
  out(styled('bold', 'The program'));
  out(PROGRAM.replace(/^/gm, '  '));
  out(styled('bold', 'Its response'));
  out(printableJson(renderResponse(first), true).replace(/^/gm, '  '));
  out('');
  out(styled('bold', 'Where it ran'));
  out(`  isolation: ${host.isolation} (${host.isolationDescription})`);
  out(`  workers ready in ${readyMs.toFixed(0)} ms; this program took ${first.durationMs.toFixed(1)} ms`);
  out(
    `  a fresh sandbox for a tiny program: ${(times[RUNS / 2] as number).toFixed(2)} ms (median of ${RUNS}), ${(times[Math.floor(RUNS * 0.95)] as number).toFixed(2)} ms (p95)`,
  );
  out('');
  out('Run your own:  node dist/bin.js run your-script.ts');
  return first.outcome.status === 'completed' ? 0 : 1;
}
