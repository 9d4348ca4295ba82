import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CodemodeHost, RunResult } from '../../src/index.js';
import { needs } from '../support/needs.js';
import { fixture } from '../support/upstreams.js';

/* What programs, callers and servers try against a host inside somebody's own program. */
const { createHost } = (await import(
  new URL('../../dist/index.js', import.meta.url).href
)) as typeof import('../../src/index.js');

let host: CodemodeHost;
const paid: unknown[] = [];
beforeAll(async () => {
  host = await createHost({
    config: {
      approvals: { grace: '20ms' },
      quotas: { runs: 2 },
      policy: [{ tools: 'bank/pay', decision: 'ask' }],
      mcpServers: { flooding: { command: process.execPath, args: [fixture('flooding-server.mjs'), 'tools'] } },
    },
    tools: {
      bank: {
        pay: { execute: (input: unknown) => paid.push(input) },
        wait: { execute: () => new Promise((resolve) => setTimeout(resolve, 1_000, 'waited')) },
      },
    },
  });
}, 60_000);
afterAll(() => host?.close());

const give = (expression: string) => `globalThis.__codemode_result__ = ${expression};`;
const using = (names: string, code: string) => `import { ${names} } from '@codemode/servers/bank'; ${code}`;

test(
  'an approval releases the call that was shown, once, and the waiting program cannot give it',
  needs('bubblewrap'),
  async () => {
    const { approvals } = host.core;
    const pay = (to: string) => host.session({ caller: 'agent' }).run(using('pay', `await pay({ to: '${to}' })`));
    const asked = (await pay('ann')) as RunResult;
    expect(asked.state).toBe('suspended');
    const [pending] = await approvals.pending();
    // Another program, and the same one again, are questions of their own.
    expect([(await pay('mallory')).state, (await pay('ann')).state]).toEqual(['suspended', 'suspended']);
    const self = `const found = [];
    for (const path of ['@codemode/approvals', '@codemode/servers/codemode']) found.push(await import(path).catch(() => 'none'));
    ${give('found')}`;
    expect((await host.run(self)).result).toEqual(['none', 'none']);
    await approvals.decide(pending?.id ?? '', 'APPROVED', { by: 'a person', scope: 'call' });
    await host.core.resume(asked.runId ?? '');
    expect(paid).toEqual([{ to: 'ann' }]);
    expect((await approvals.pending()).map((each) => JSON.stringify(each.arguments)).sort()).toEqual([
      '{"to":"ann"}',
      '{"to":"mallory"}',
    ]);
  },
);

test('a caller that runs more at once than its quota is refused by name, and another is served', async () => {
  const [mallory, bob] = [host.session({ caller: 'mallory' }), host.session({ caller: 'bob' })];
  const flood = Promise.allSettled([1, 2, 3, 4].map(() => mallory.run(using('wait', give('await wait({})')))));
  expect((await bob.run(give('1'))).result).toBe(1);
  const answers = await flood;
  const refused = answers.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []));
  expect(refused).toEqual(Array(2).fill(expect.stringContaining('quotas.runs allows one caller')));
});

test('a server that lists more than its budget is quarantined, and the others are served', async () => {
  await host.discoverTools();
  const flooding = host.core.health().find(({ id }) => id === 'flooding');
  expect(flooding).toMatchObject({ state: expect.not.stringMatching(/^connected$/) });
  expect((await host.run(using('wait', give('await wait({})')))).result).toBe('waited');
});
