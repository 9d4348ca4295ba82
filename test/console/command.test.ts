import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import Sqlite from 'libsql';
import { expect, test } from 'vitest';
import { Home as CliHome } from '../support/cli.js';
import { needs } from '../support/needs.js';
import { openHome, runProgram, startProgram, until } from '../support/program.js';
import { needsTerminal, Terminal } from '../support/terminal.js';

test('codemode console serves only the console, and later links are for that host', needs('bubblewrap'), async () => {
  using home = openHome({ mcpServers: {} });
  const child = startProgram(home, 'console', '--no-open', '--port', '0');
  try {
    const [chunk] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    const link = new URL(chunk.toString().trim());
    expect([link.hostname, link.hash.length]).toEqual(['127.0.0.1', '#link='.length + 43]);
    expect((await fetch(`${link.origin}/`)).status).toBe(200);
    // No agent is served here, with whichever token.
    for (const path of ['/mcp', '/api/v1/tools'])
      expect((await fetch(`${link.origin}${path}`, { headers: { authorization: 'Bearer x' } })).status).toBe(401);
    const second = await runProgram(home, 'console', '--no-open');
    expect([second.status, new URL(second.stdout.trim()).origin]).toEqual([0, link.origin]);
    // With a screen, the link is printed and given to the browser, as it is.
    const shims = join(home.work, 'shims');
    const given = join(home.work, 'given');
    mkdirSync(shims);
    writeFileSync(
      join(shims, 'xdg-open'),
      `#!/bin/sh\nprintf %s "$1" > '${given}.part' && mv '${given}.part' '${given}'\n`,
      { mode: 0o755 },
    );
    const desktop = { ...home.environment, DISPLAY: ':0', PATH: `${shims}:${home.environment.PATH}` };
    const opened = await runProgram({ ...home, environment: desktop }, 'console');
    await until(() => existsSync(given));
    expect(readFileSync(given, 'utf8')).toBe(opened.stdout.trim());
    // The user has made the approver's secret: from now on a program makes no link that may approve.
    writeFileSync(join(home.state, 'approver'), 'AAAA.BBBB\n');
    expect(await runProgram(home, 'console', '--no-open')).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining("a link needs the approver's secret in CODEMODE_APPROVER_SECRET"),
    });
  } finally {
    child.kill('SIGTERM');
  }
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test("with an approver's secret, a terminal alone gets no link: the secret is asked for, hidden", {
  ...needs('bubblewrap'),
  ...needsTerminal,
}, async () => {
  using home = new CliHome();
  home.write('codemode.config.json', { mcpServers: {} });
  const words = ['--config', home.path('codemode.config.json')];
  using making = new Terminal(home, [...words, 'approvals', 'secret']);
  await making.sees('Keep this secret');
  const secret = /[\w-]{32}/.exec(making.shown)?.[0] ?? '';
  await making.ended();
  const ask = async (typed: string) => {
    const terminal = new Terminal(home, [...words, 'console', '--no-open']);
    await terminal.sees("Approver's secret: ");
    terminal.type(`${typed}\r`);
    return terminal;
  };
  using wrong = await ask('guess');
  const refused = await wrong.ended();
  expect([refused.status, wrong.shown.includes('#link=')]).toEqual([2, false]);
  expect(refused.shown).toContain("that is not the approver's secret");
  using right = await ask(secret);
  await right.sees('#link=');
  await right.sees('until you stop this command');
  expect(right.shown).not.toContain(secret);
  right.type('\u0003');
  await right.ended();
});

test('on a terminal the demo ends with a link, and with the command where a secret is made', {
  ...needs('bubblewrap'),
  ...needsTerminal,
}, async () => {
  using home = new CliHome();
  using first = new Terminal(home, ['demo']);
  await first.sees('Look at it in your browser');
  const link = new URL(/http:\S+/.exec(await first.sees('#link=').then(() => first.shown.slice(-200)))?.[0] ?? '');
  expect((await fetch(link.origin)).status).toBe(200);
  first.type('\u0003');
  await first.ended();
  home.write('state/approver', 'AAAA.BBBB\n');
  using second = new Terminal(home, ['demo']);
  await second.sees('Look at it in your browser');
  expect(await second.ended()).toMatchObject({ status: 0, shown: expect.not.stringContaining('#link=') });
});

test('a state folder of a newer version is refused, with what to do', async () => {
  using home = openHome({ mcpServers: {} });
  const file = new Sqlite(join(home.state, 'codemode.db'));
  file.exec('PRAGMA user_version = 9999');
  file.close();
  expect(await runProgram(home, 'console', '--no-open')).toMatchObject({
    status: 2,
    stdout: '',
    stderr: expect.stringContaining('was written by a newer codemode; use that one'),
  });
});

test(
  "a process on a stopped console's port gets a link, cookie and key that work nowhere",
  needs('bubblewrap'),
  async () => {
    using home = openHome({ mcpServers: {} });
    const start = async () => {
      const child = startProgram(home, 'console', '--no-open');
      const [chunk] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
      return { child, link: new URL(chunk.toString().trim()) };
    };
    const first = await start();
    const { host } = first.link;
    const second = new URL((await runProgram(home, 'console', '--no-open')).stdout.trim());
    const opened = await ask(first.link, host, { link: first.link.hash.slice('#link='.length) });
    const cookie = String(opened.headers['set-cookie']).split(';')[0] ?? '';
    const { key } = JSON.parse(opened.body) as { key: string };
    expect((await ask(first.link, host, undefined, { cookie, 'x-codemode-console': key })).status).toBe(200);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    const next = await start();
    try {
      expect(next.link.port).not.toBe(first.link.port);
      // As the thief sends it: to the new port, with the address that the session was opened at, and under each name of the cookie.
      const stolen = [cookie, cookie.replace(/_\d+=/, `_${next.link.port}=`)].join('; ');
      for (const said of [host, next.link.host]) {
        const { status, body } = await ask(next.link, said, undefined, { cookie: stolen, 'x-codemode-console': key });
        expect([status, body]).toEqual([401, expect.stringContaining('codemode console')]);
        const { status: refused } = await ask(next.link, said, { link: second.hash.slice('#link='.length) });
        expect(refused).toBe(400);
      }
    } finally {
      next.child.kill('SIGTERM');
    }
    await once(next.child, 'exit');
  },
);

/** A request that says of itself what it likes. With a link it logs in, else it asks for the session. */
async function ask(at: URL, host: string, login?: object, headers: Record<string, string> = {}) {
  const body = login === undefined ? undefined : JSON.stringify(login);
  const sent = request({
    ...{ host: at.hostname, port: at.port, method: body === undefined ? 'GET' : 'POST' },
    path: `/console/api/${body === undefined ? 'session' : 'login'}`,
    headers: {
      ...{ host, ...headers },
      ...(body === undefined ? {} : { origin: `http://${host}`, 'content-type': 'application/json' }),
    },
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode, headers: response.headers, body: text };
}
