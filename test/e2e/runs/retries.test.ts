import { expect, test } from 'vitest';
import { LedgerHome } from '../../support/ledger.js';
import { fixture } from '../../support/upstreams.js';

/** A server that dies at its first call, after it has done its work and before it says so. */
function crashing(retryPolicy: object = {}): LedgerHome {
  const home = new LedgerHome();
  home.write('codemode.config.json', {
    policy: { preset: 'open' },
    mcpServers: {
      ledger: {
        command: process.execPath,
        args: [fixture('ledger-server.mjs'), home.ledger],
        env: { LEDGER_CRASH: home.path('crashed') },
        retryPolicy: { delay: '10ms', ...retryPolicy },
      },
    },
  });
  return home;
}

const CALL = (tool: string) => `import { ${tool} } from '@codemode/servers/ledger';
globalThis.__codemode_result__ = await ${tool}({ text: 'x' }).then(({ did }) => did, (error) => error.message);`;

test('a call that only reads is made again when its answer was lost', async () => {
  using home = crashing();
  expect((await home.program(CALL('look'))).result).toBe('look');
  expect(home.lines).toEqual(['look x', 'look x']);
});

test('a call that may change something is never made again: its outcome is said to be unknown', async () => {
  using home = crashing({ maxAttempts: 5 });
  expect((await home.program(CALL('write'))).result).toMatch(/The call may have taken effect/);
  expect(home.lines).toEqual(['write x']);
});

test('the setting of a server bounds how often', async () => {
  using home = crashing({ maxAttempts: 1 });
  expect((await home.program(CALL('look'))).result).toMatch(/was lost before the answer/);
  expect(home.lines).toEqual(['look x']);
});
