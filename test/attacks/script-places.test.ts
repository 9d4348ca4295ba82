import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callScript, responseOf } from '../support/code-execution.js';
import { needs } from '../support/needs.js';
import { nodeServer, openHome, startServe } from '../support/program.js';
import { listed, restClient } from '../support/rest.js';
import { fixture } from '../support/upstreams.js';

/*
 * A script keeps a process until it ends, and nobody can take that from it. Mallory sends more scripts that wait than there are places,
 * bob takes the last one that was left, and others are served all the same: in turn, and at once where they do not block.
 */
const PLACES = 3;
const SOON = { timeout: 30_000, interval: 20 };

test(
  'waiting scripts of one token leave room for others, and a free slot goes to the fewest',
  needs('bubblewrap'),
  async () => {
    using home = openHome({});
    const file = (name: string) => join(home.work, name);
    const crowd = (name: string) => nodeServer(fixture('crowd-server.mjs'), file(`${name} log`), file(`${name} gate`));
    const config = {
      profile: 'code_execution',
      codeExecution: { poolSize: PLACES },
      mcpServers: { crowd: crowd('mallory'), hall: crowd('bob') },
      security: { auth: { tokens: ['mallory', 'bob', 'carol'].map((name) => listed(name)) } },
      sandbox: { workers: { min: 1, max: 2 } },
    };
    writeFileSync(home.configFile, JSON.stringify(config));
    await using server = await startServe(home);
    const [mallory, bob, carol] = await Promise.all(
      ['mallory', 'bob', 'carol'].map((name) => server.connect('modern', {}, name)),
    );
    const script = async (from: typeof mallory, code: string) =>
      responseOf(await callScript((from as NonNullable<typeof from>).client, { code }));
    const inside = (name: string) =>
      existsSync(file(`${name} log`)) ? readFileSync(file(`${name} log`), 'utf8').split('\n').length - 1 : 0;

    const flood = Array.from({ length: 2 * PLACES }, () => script(mallory, `call_tool('crowd', 'stay', {}).result`));
    await expect.poll(() => inside('mallory'), SOON).toBe(PLACES - 1);
    expect(await script(bob, '1')).toEqual({ ok: true, value: 1 });
    const slow = script(bob, `call_tool('hall', 'stay', {}).result`);
    await expect.poll(() => inside('bob'), SOON).toBe(1);
    // Every place is taken. What does not block runs beside them, and a caller without a process comes before one that has two and waited longer.
    const rest = restClient(server.url, 'carol');
    expect((await rest.post('/execute', 'carol', { code: 'return 2' })).body.result).toBe(2);
    const next = script(carol, '3');
    writeFileSync(file('bob gate'), '');
    expect(await slow).toEqual({ ok: true, value: 'stayed' });
    expect(await next).toEqual({ ok: true, value: 3 });
    expect(inside('mallory')).toBe(PLACES - 1);
    writeFileSync(file('mallory gate'), '');
    expect(await Promise.all(flood)).toEqual(Array(2 * PLACES).fill({ ok: true, value: 'stayed' }));
    for (const each of [mallory, bob, carol]) await each?.client.close();
  },
);
