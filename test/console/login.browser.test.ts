import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { logIn, newLink, openBrowser, type Person, SHOP_SERVERS, seriousProblems, visit } from '../support/console.js';
import { needs } from '../support/needs.js';
import { startWorld, type World } from '../support/oauth-world.js';
import { openHome, ready, run, startServe } from '../support/program.js';

/* What leaves the page and comes back: a log-in at an authorization server, and the browser's notifications. */

const ASKS = `import { update_ticket } from '@codemode/servers/tracker';
globalThis.__codemode_result__ = await update_ticket({ id: 'SHOP-1' });`;

describe('the console beside other windows', needs('chromium', 'bubblewrap'), () => {
  let world: World;
  let home: ReturnType<typeof openHome>;
  let server: Awaited<ReturnType<typeof startServe>>;
  let browser: Browser;
  let person: Person;
  let page: Page;
  let agent: Awaited<ReturnType<(typeof server)['connect']>>;

  beforeAll(async () => {
    world = await startWorld();
    home = openHome({
      approvals: { grace: '20ms' },
      mcpServers: { tracker: SHOP_SERVERS.tracker, notes: { url: world.url } },
    });
    [server, browser] = await Promise.all([startServe(home), openBrowser()]);
    person = await logIn(browser, await newLink(home), { permissions: ['notifications'] });
    page = person.page;
    agent = await server.connect();
    await ready(agent.client, 'tracker');
  }, 90_000);
  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]();
    await browser?.close();
    await server?.stop();
    home?.[Symbol.dispose]();
    await world?.[Symbol.asyncDispose]();
  });

  /** Presses Log in, and gives the window of the authorization server that opens. */
  async function startLogin(): Promise<Page> {
    const [popup] = await Promise.all([
      person.context.waitForEvent('page'),
      page.getByRole('button', { name: 'Log in' }).click(),
    ]);
    await page.getByRole('link', { name: 'Open the log-in page' }).waitFor();
    return popup;
  }

  test('a log-in that a person breaks off says why in the console, and can be started again [B16]', async () => {
    await visit(page, 'Tools');
    await page.getByRole('link', { name: /^notes/ }).click();
    const popup = await startLogin();
    expect(await seriousProblems(page)).toEqual([]);
    await popup.getByPlaceholder('Enter any login').fill('alice');
    await popup.getByPlaceholder('and password').fill('a password');
    await popup.getByRole('button', { name: 'Sign-in' }).click();
    await popup.getByRole('link', { name: 'Cancel' }).click();
    await popup.getByText('The terminal or the console where you started it says why.').waitFor();
    await page
      .getByRole('alert')
      .getByText(/You are not logged in.*access_denied/)
      .waitFor();
    expect(await page.getByRole('link', { name: 'Open the log-in page' }).count()).toBe(0);
    await popup.close();
  });

  test('a person logs in from the tools screen, and the tools of the server appear [B16]', async () => {
    // The authorization server knows the person by now.
    const popup = await startLogin();
    await popup.getByRole('button', { name: 'Continue' }).click();
    await popup.getByText('You are logged in, and you can close this window.').waitFor();
    await popup.close();
    await page.getByText('You are logged in.', { exact: true }).waitFor();
    await page.getByRole('link', { name: /^read_note/ }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('the browser itself notifies of a call that waits, if a person wants it and looks elsewhere [B16]', async () => {
    await visit(page, 'Inbox');
    await page.getByRole('button', { name: 'Notify me' }).click();
    // The browser's own notification, watched until the browser says that it shows it.
    await page.evaluate(`globalThis.shown = []; const Real = Notification;
      globalThis.Notification = class extends Real {
        constructor(title, given) { super(title, given); this.onshow = () => shown.push([title, given.body]); }
      };
      document.hasFocus = () => false;`);
    await run(agent.client, ASKS);
    await expect
      .poll(() => page.evaluate('shown'), { timeout: 20_000 })
      .toEqual([['codemode', '1 call waits for your decision.']]);
    await page.evaluate('document.hasFocus = () => true');
    await run(agent.client, ASKS.replace('SHOP-1', 'SHOP-2'));
    await page.getByText('2 calls wait for a decision.').waitFor();
    expect(await page.evaluate('shown.length')).toBe(1);
  });

  test('a browser that lets no page notify says so once, and the inbox goes on counting [B16]', async () => {
    // As Chrome on Android has it: the class is there, and its constructor throws.
    await page.evaluate(`globalThis.Notification = class { constructor() { throw new TypeError('Illegal constructor.'); } };
      document.hasFocus = () => false;`);
    await run(agent.client, ASKS.replace('SHOP-1', 'SHOP-3'));
    await page.getByText(/it cannot notify you/).waitFor();
    await page.getByText('3 calls wait for a decision.').waitFor();
    await page.getByRole('button', { name: 'Notify me' }).waitFor();
    expect(person.complaints).toEqual([]);
    await page.evaluate('document.hasFocus = () => true');
  });

  test('an approval for an hour is listed while it stands, and revoked there [B16]', async () => {
    await visit(page, 'Inbox');
    const card = page.getByRole('article').first();
    await card.getByLabel('Approval applies to').selectOption('hour');
    await card.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByRole('tab', { name: 'Standing approvals' }).click();
    const revoke = page.getByRole('button', { name: 'Revoke tracker/update_ticket' });
    await revoke.waitFor();
    await page.getByText(/^Every run of a client over HTTP, .*reason to ask is:/).waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    await revoke.click();
    await page.getByRole('heading', { name: 'No standing approvals' }).waitFor();
  });
});
