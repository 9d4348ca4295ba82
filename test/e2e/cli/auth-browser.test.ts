import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLogin } from '../../support/login.js';
import { needs } from '../../support/needs.js';
import { startWorld, type World } from '../../support/oauth-world.js';
import { openHome, runProgram } from '../../support/program.js';

/* The login as a person makes it: a real browser, the authorization server's own forms, and back to this machine. */

const READ = `import { read_note } from '@codemode/servers/notes';
  globalThis.__codemode_result__ = await read_note();`;

describe('in a real browser', needs('chromium'), () => {
  let browser: Browser;
  beforeAll(async () => {
    const { chromium } = await import('playwright-core');
    browser = await chromium.launch({
      executablePath: execFileSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' }).trim(),
      headless: true,
      // Only this machine: the provider's forms want a font from elsewhere.
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
    });
  });
  afterAll(() => browser?.close());

  /** A person with his own browser, at the address. */
  async function visit(address: string) {
    const context = await browser.newContext();
    const page = await context.newPage();
    const requests: { readonly url: string; readonly referrer: string | undefined }[] = [];
    context.on('request', (request) => requests.push({ url: request.url(), referrer: request.headers().referer }));
    await page.goto(address);
    return { context, page, requests, [Symbol.asyncDispose]: () => context.close() };
  }

  async function signIn(page: Page): Promise<void> {
    await page.getByPlaceholder('Enter any login').fill('alice');
    await page.getByPlaceholder('and password').fill('a password');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).waitFor();
  }

  /** Presses something, and gives the answer of this machine that the browser is sent back to. */
  async function andReturn(page: Page, press: () => Promise<void>): Promise<Response> {
    const [response] = await Promise.all([page.waitForResponse(/^http:\/\/127\.0\.0\.1:\d+\/callback/), press()]);
    await response.finished();
    return response;
  }

  const textOf = async (page: Page) => (await page.locator('body').textContent())?.trim();
  const homeFor = (world: World) => openHome({ mcpServers: { notes: { url: world.url } } });

  test('the login command opens it, a person signs in and consents, and programs call tools [B20]', async () => {
    await using world = await startWorld();
    using home = homeFor(world);
    // What the program takes for the browser of the desktop.
    const opened = join(home.work, 'opened');
    writeFileSync(
      join(home.work, 'xdg-open'),
      `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > ${opened}.new && mv ${opened}.new ${opened}\n`,
    );
    chmodSync(join(home.work, 'xdg-open'), 0o755);
    const environment = { ...home.environment, PATH: `${home.work}:${home.environment.PATH}`, DISPLAY: ':0' };
    const { address, ended } = await startLogin({ ...home, environment });
    await expect.poll(() => readFileSync(opened, 'utf8'), { timeout: 10_000 }).toBe(`1\n${address}\n`);

    await using person = await visit(address);
    const { page, requests } = person;
    await signIn(page);
    expect(await textOf(page)).toContain('notes:read');
    const response = await andReturn(page, () => page.getByRole('button', { name: 'Continue' }).click());

    // The page that the code arrives at: says what a person needs to know, fetches nothing, runs nothing, tells nobody.
    expect(response.status()).toBe(200);
    expect(await textOf(page)).toBe('You are logged in, and you can close this window.');
    expect(await page.title()).toBe('codemode');
    expect(response.headers()).toMatchObject({
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    const code = new URL(response.url()).searchParams.get('code') as string;
    expect(code.length).toBeGreaterThan(20);
    expect(await page.content()).not.toContain(code);
    expect(await page.locator('script, link, img, a, iframe, form').count()).toBe(0);
    const after = requests.slice(requests.findIndex(({ url }) => url === response.url()) + 1);
    expect(after.filter(({ url }) => !url.endsWith('/favicon.ico'))).toEqual([]);
    // Where the person goes from there learns nothing.
    await Promise.all([
      page.waitForURL(/elsewhere/),
      page.evaluate(`location.assign(${JSON.stringify(`${world.issuer}/elsewhere`)})`),
    ]);
    const next = requests.find(({ url }) => url.endsWith('/elsewhere'));
    expect(next?.referrer).toBeUndefined();
    expect(JSON.stringify(requests.filter(({ url }) => url !== response.url()))).not.toContain(code);

    const { status, stdout, stderr } = await ended;
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^notes: logged in, by http:\S+, for notes:read/)]);
    expect(stdout + stderr).not.toContain(code);
    const program = join(home.work, 'program.ts');
    writeFileSync(program, READ);
    expect(JSON.parse((await runProgram(home, 'run', program)).stdout)).toMatchObject({ result: 'milk and honey' });

    // The address in the history of the browser leads nowhere any more.
    await expect(page.goto(response.url())).rejects.toThrow('ERR_CONNECTION_REFUSED');
  });

  test('a person who does not agree ends the login, and both the browser and the terminal say so [B20]', async () => {
    await using world = await startWorld();
    using home = homeFor(world);
    const { address, ended } = await startLogin(home, '--no-browser');
    await using person = await visit(address);
    await signIn(person.page);
    const response = await andReturn(person.page, () => person.page.getByRole('link', { name: 'Cancel' }).click());
    expect(new URL(response.url()).searchParams.get('error')).toBe('access_denied');
    expect(await textOf(person.page)).toBe(
      'The login did not work. The terminal or the console where you started it says why. You can close this window.',
    );
    const { status, stdout, stderr } = await ended;
    expect([status, stdout]).toEqual([69, '']);
    expect(stderr).toMatch(/access_denied/);
    const { stdout: shown } = await runProgram(home, 'auth', 'status', '--json');
    expect(JSON.parse(shown)).toMatchObject({ servers: [{ serverId: 'notes', state: 'not_logged_in' }] });
  });

  test('a second window that repeats the callback is refused, and another origin learns nothing [B20]', async () => {
    // The exchange of the code waits until the others have tried.
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let exchanges = 0;
    await using world = await startWorld({
      delay: (request) => {
        if (request.url !== '/token') return Promise.resolve();
        exchanges += 1;
        return held;
      },
    });
    using home = homeFor(world);
    const { address, ended } = await startLogin(home, '--no-browser');
    await using person = await visit(address);
    const { page } = person;
    await using other = await browser.newContext();
    await signIn(page);
    const [request] = await Promise.all([
      page.waitForRequest(/^http:\/\/127\.0\.0\.1:\d+\/callback/),
      page.getByRole('button', { name: 'Continue' }).click({ noWaitAfter: true }),
    ]);
    await expect.poll(() => exchanges, { timeout: 10_000 }).toBe(1);

    // With its own cache: within one, the browser holds the same address back until the first answer is there.
    const tab = await other.newPage();
    const again = await tab.goto(request.url());
    expect(again?.status()).toBe(410);
    expect(await textOf(tab)).toBe('This login has ended. You can close this window.');
    const forged = new URL(request.url());
    forged.searchParams.set('state', 'x'.repeat(43));
    expect((await tab.goto(forged.href))?.status()).toBe(400);
    // A page of another origin neither reads the answer nor shows it.
    await tab.goto(`${world.issuer}/.well-known/openid-configuration`);
    const read = await tab.evaluate(
      (url) =>
        fetch(url).then(
          (answer) => answer.text(),
          () => 'refused',
        ),
      request.url(),
    );
    expect(read).toBe('refused');

    letGo();
    expect((await ended).status).toBe(0);
    expect(exchanges).toBe(1);
    await expect.poll(() => textOf(page)).toContain('You are logged in');
  });
});
