import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { PROGRAM } from '../../support/cli.js';
import { LedgerHome } from '../../support/ledger.js';

/** Starts `codemode runs resume` and gives a way to kill it with everything below it, as a power cut would. */
function startResume(home: LedgerHome, runId: string) {
  const child = spawn(process.execPath, [PROGRAM, '--config', home.config, 'runs', 'resume', runId], {
    cwd: home.folder,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home.folder,
      CODEMODE_HOME: home.path('state'),
      CODEMODE_KEYRING: 'file',
    },
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  return {
    exited,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    if (tries > 3_000) throw new Error('it never came to that');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A run that was approved and is still suspended. */
async function approved(home: LedgerHome, source: string, ...scope: string[]): Promise<string> {
  const { runId = '' } = await home.program(source);
  const [approval] = await home.pending();
  await home.decide('approve', approval?.id ?? '', ...scope);
  return runId;
}

describe('a host that is killed', () => {
  test('while an approved call is under way never makes it again: its outcome is unknown', async () => {
    using home = new LedgerHome();
    const runId = await approved(
      home,
      `import { write } from '@codemode/servers/ledger';
globalThis.__codemode_result__ = await write({ text: 'once', delayMs: 60_000 }).catch((error) => error.message);`,
    );
    const host = startResume(home, runId);
    await until(() => home.lines.length > 0);
    await host.kill();
    expect(await home.show(runId)).toMatchObject({ state: 'suspended' });
    const { state, response } = await home.resume(runId);
    expect({ state, result: response?.result }).toEqual({
      state: 'succeeded',
      result: expect.stringContaining('may have taken effect'),
    });
    expect(home.lines).toEqual(['write once']);
  });

  test('after an approved call was answered hands the answer on, and does not ask for it again', async () => {
    using home = new LedgerHome();
    const runId = await approved(
      home,
      `import { look, write } from '@codemode/servers/ledger';
const written = await write({ text: 'once' });
const looked = await look({ text: 'slowly', delayMs: 60_000 }).catch((error) => error.message);
globalThis.__codemode_result__ = [written.lines, looked];`,
    );
    const host = startResume(home, runId);
    await until(() => home.lines.includes('look slowly'));
    await host.kill();
    const { response } = await home.resume(runId);
    expect(response?.result).toEqual([1, expect.stringContaining('may have taken effect')]);
    expect(home.lines).toEqual(['write once', 'look slowly']);
  });

  test('at any moment, again and again, makes no call twice, and its run comes to an end', async () => {
    using home = new LedgerHome();
    const runId = await approved(
      home,
      `import { write } from '@codemode/servers/ledger';
const done = [];
for (let n = 0; n < 8; n++) {
  await Promise.all(['a', 'b'].map((letter) =>
    write({ text: n + letter, delayMs: 15 }).then(() => done.push('answered'), () => done.push('unknown'))));
}
globalThis.__codemode_result__ = done.length;`,
      '--scope',
      'run',
    );
    for (const delayMs of [0, 10, 25]) {
      const before = home.lines.length;
      const host = startResume(home, runId);
      await Promise.race([host.exited, until(() => home.lines.length > before)]);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      await host.kill();
    }
    const { state, response } = await home.resume(runId);
    expect({ state, result: response?.result }).toEqual({ state: 'succeeded', result: 16 });
    expect(home.lines).toEqual([...new Set(home.lines)]);
    expect(home.lines.length).toBeLessThanOrEqual(16);
  });
});

test('of two hosts that resume the same run at once, one gets it', async () => {
  using home = new LedgerHome();
  const runId = await approved(
    home,
    `import { write } from '@codemode/servers/ledger'; await write({ text: 'once', delayMs: 500 });`,
  );
  const words = ['--config', home.config, 'runs', 'resume', runId];
  const both = await Promise.all([home.run(words), home.run(words)]);
  expect(both.map(({ status }) => status)).toContain(0);
  expect(home.lines).toEqual(['write once']);
  expect(await home.show(runId)).toMatchObject({ state: 'succeeded' });
});

test('hosts that race for a run and are killed in turn each continue where the last stopped', async () => {
  using home = new LedgerHome();
  const runId = await approved(
    home,
    `import { write } from '@codemode/servers/ledger';
const done = [];
for (let n = 0; n < 6; n++) await write({ text: 'n' + n, delayMs: 40 }).then(() => done.push(n), () => done.push(n));
globalThis.__codemode_result__ = done;`,
    '--scope',
    'run',
  );
  for (let round = 0; round < 2; round++) {
    const before = home.lines.length;
    const hosts = [0, 1].map(() => startResume(home, runId));
    const ended = Promise.all(hosts.map(({ exited }) => exited));
    await Promise.race([ended, until(() => home.lines.length > before)]);
    // One of them holds the run. The others wait for its end and never claim a run whose host is alive.
    for (const host of hosts) await host.kill();
  }
  const words = ['--config', home.config, 'runs', 'resume', runId];
  const last = await Promise.all([home.run(words), home.run(words)]);
  expect(last.map(({ status }) => status)).toContain(0);
  expect(home.lines).toEqual([...new Set(home.lines)]);
  const { state, response } = await home.show(runId);
  expect({ state, result: response?.result }).toEqual({ state: 'succeeded', result: [0, 1, 2, 3, 4, 5] });
});

test('a run that is cancelled while it is suspended is never resumed', async () => {
  using home = new LedgerHome();
  const { runId = '' } = await home.program(`import { write } from '@codemode/servers/ledger'; await write({});`);
  expect((await home.run(['runs', 'cancel', runId])).status).toBe(0);
  const [approval] = await home.pending();
  await home.decide('approve', approval?.id ?? '');
  expect(await home.resume(runId)).toMatchObject({ state: 'cancelled', response: null });
  expect(home.lines).toEqual([]);
});
