import { expect, test } from 'vitest';
import { call, openHome, openStdio, ready } from '../support/program.js';
import { fixture } from '../support/upstreams.js';

/** Values that no program may see, by how the server got them. None of the names is one of the usual names of secrets. */
const HELD = {
  pass: 'open sesame now',
  creds: 'alice:w0nderland',
  neutral: 'Zx81-Spectrum!',
  inherited: 'c0mmodore-sixty4',
  referenced: 'am1ga-fivehundred',
  connection: 'tr0ub4dor&3',
};
const ORDINARY = ['production', 'en_US.UTF-8', '/usr/bin', 'https://api.example.com', 'eu-central-1'];

test('a program does not see the credentials that a server echoes from its environment', async () => {
  const [mode, locale, path, api, region] = ORDINARY;
  using home = openHome({
    mcpServers: {
      careless: {
        command: process.execPath,
        args: [
          fixture('environment-server.mjs'),
          `--conn=Server=db;User Id=sa;Password=${HELD.connection}`,
          '--plain=${REFERENCED_VALUE}',
        ],
        env: {
          SMTP_PASS: HELD.pass,
          CREDS: HELD.creds,
          FOO: HELD.neutral,
          MODE: mode,
          LC_X: locale,
          P: path,
          API: api,
        },
        inheritEnv: ['INHERITED_VALUE', 'SOME_REGION'],
      },
    },
  });
  Object.assign(home.environment, {
    INHERITED_VALUE: HELD.inherited,
    REFERENCED_VALUE: HELD.referenced,
    SOME_REGION: region,
  });
  await using session = await openStdio(home);
  await ready(session.client, 'careless');
  const { structuredContent } = await call(session.client, {
    code: `import { diagnose } from '@codemode/servers/careless';
      const seen = JSON.stringify(await diagnose({}));
      // In a form that nobody redacts on its way out: this is what the program itself has seen.
      globalThis.__codemode_result__ = [...seen].reverse().join('');`,
  });
  const seen = [...String((structuredContent as { result?: unknown }).result)].reverse().join('');
  expect(seen).toContain('[redacted:credential]');
  expect(Object.entries(HELD).filter(([, value]) => seen.includes(value))).toEqual([]);
  expect(ORDINARY.filter((value) => !seen.includes(value))).toEqual([]);
});
