import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openProxy } from '../support/breakable-proxy.js';
import { logIn, newLink, openBrowser, SHOP_SERVERS, seriousProblems, visit } from '../support/console.js';
import { expireSessions, fillStore } from '../support/console-store.js';
import { needs } from '../support/needs.js';
import { openHome, openStdio, ready, run, startServe } from '../support/program.js';

/* A state folder with much in it, several people, several processes, and connections that break. */

const WAITING = 1_000;
/** Rows of a list that are in the document, however many there are. */
const MOST_ROWS = 60;
const ROW_PIXELS = 56;
/** Two browsers' worth of pages, on a machine that has other things to do. */
const PATIENCE_MS = 60_000;

const slow = (delayMs: number) => `import { list_issues } from '@codemode/servers/shop';
// Takes its time.
await list_issues({ delayMs: ${delayMs} });
globalThis.__codemode_result__ = 'slow';`;

describe('the console with much to show', { ...needs('chromium', 'bubblewrap'), timeout: 3 * PATIENCE_MS }, () => {
  let home: ReturnType<typeof openHome>;
  let server: Awaited<ReturnType<typeof startServe>>;
  let browser: Browser;

  beforeAll(async () => {
    home = openHome({ mcpServers: SHOP_SERVERS, quotas: { history: 20_000 } });
    await fillStore(home, { runs: 10_000, approvals: WAITING });
    [server, browser] = await Promise.all([startServe(home), openBrowser()]);
  }, 90_000);
  // Also after a failure: a page that is still open takes the next test's time.
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    home?.[Symbol.dispose]();
  });

  async function arrive(link: string) {
    const person = await logIn(browser, link);
    person.page.setDefaultTimeout(PATIENCE_MS);
    return person;
  }

  test('1,000 approvals wait in a list that stays short, and two people decide at the same moment [B16]', async () => {
    const ana = await arrive(await newLink(home));
    const ben = await arrive(await newLink(home, '--approver'));
    const told = /before you|was (denied|approved) by/;
    for (const { page } of [ana, ben]) {
      await page.getByText(/^1,?000 calls wait for a decision/).waitFor();
      await page.getByRole('article', { name: 'tracker/update_ticket' }).waitFor();
      // Neither page hears of the other: both are still on the same card when they press their buttons.
      await page.route('**/console/api/approvals?*', (route) => route.abort());
    }
    expect(await ana.page.locator('.card-row').count()).toBeLessThan(MOST_ROWS);
    const press = async ({ page }: typeof ana, button: string) => {
      await page.getByRole('button', { name: button, exact: true }).click();
      return page
        .locator('.toast', { hasText: /1 call\./ })
        .or(page.locator('.toast', { hasText: told }))
        .first()
        .textContent();
    };
    const outcomes = await Promise.all([press(ana, 'Approve'), press(ben, 'Deny')]);
    expect(outcomes.filter((text) => told.test(text ?? ''))).toHaveLength(1);
    expect(outcomes.filter((text) => /(Approved|Denied) 1 call/.test(text ?? ''))).toHaveLength(1);
    expect(await seriousProblems(ana.page)).toEqual([]);
  });

  test('10,000 runs are a list that is loaded page by page while it is scrolled [B16]', async () => {
    const { page } = await arrive(await newLink(home));
    await page
      .getByRole('checkbox', { name: /^Select / })
      .nth(1)
      .check();
    await page
      .getByRole('checkbox', { name: /^Select / })
      .nth(2)
      .check();
    await page.getByRole('button', { name: 'Deny selected' }).click();
    await page.getByText('Denied 2 calls.').waitFor();
    await visit(page, 'Runs');
    await page.getByRole('searchbox').fill('run4711 ');
    await page.getByText('const run4711 = 1;').waitFor();
    await page.getByRole('searchbox').fill('');
    await page.getByText('const waiting = 1;').first().waitFor();
    const loaded = async () => {
      await page.evaluate(
        `{ const box = document.querySelector('.runs .virtual'); box.scrollTop = box.scrollHeight; }`,
      );
      return page.evaluate<number>(`document.querySelector('.runs .virtual').scrollHeight`);
    };
    await expect.poll(loaded, { timeout: 60_000 }).toBeGreaterThan(400 * ROW_PIXELS);
    expect(await page.locator('a.run-row').count()).toBeLessThan(MOST_ROWS);
  });

  test('a run of another process is live: its page follows it, reloads, and cancels the next one [B16]', async () => {
    const { page } = await arrive(await newLink(home));
    await visit(page, 'Runs');
    await using stdio = await openStdio(home);
    await ready(stdio.client, 'shop');
    const running = run(stdio.client, slow(6_000));
    const row = page.locator('a.run-row', { hasText: 'await list_issues({ delayMs' }).first();
    await row.getByText('running').waitFor();
    await row.click();
    await page.getByText('under way').waitFor();
    const moving = () => page.evaluate<number>('document.getAnimations().length');
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    expect(await moving()).toBeGreaterThan(0);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await moving()).toBe(0);
    await page.reload();
    await page.getByText('under way').waitFor();
    await running;
    await page.locator('h1').getByText('succeeded').waitFor();
    // It must not end before it is cancelled, on a loaded machine either.
    const next = run(stdio.client, slow(25_000));
    await visit(page, 'Runs');
    await page.locator('a.run-row .badge.live').first().click();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.locator('h1').getByText('cancelled').or(page.locator('h1').getByText('failed')).first().waitFor();
    await next.catch(() => {});
    await visit(page, 'Connect');
    await page.getByText('Other clients that have connected').waitFor();
    await page.getByText('test 0').first().waitFor();
  });

  test('a connection that breaks is said, comes back by itself, and nothing is missed [B16]', async () => {
    const proxy = await openProxy(new URL(server.url));
    const { page } = await arrive((await newLink(home)).replace(server.url, proxy.url));
    await visit(page, 'Runs');
    await page.getByText('Live', { exact: true }).waitFor();
    proxy.cut();
    await page
      .getByText(/^(Lost|Connecting|Not connected|Reconnecting)/)
      .first()
      .waitFor();
    const agent = await server.connect();
    await run(agent.client, "console.log('meanwhile'); globalThis.__codemode_result__ = 1;");
    await agent[Symbol.asyncDispose]();
    proxy.mend();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText("console.log('meanwhile');").first().waitFor();
    proxy.close();
  });

  test('a page of another port cannot frame the console, read it, follow it or decide in it [B16]', async () => {
    const { page, context } = await arrive(await newLink(home));
    const pending = page.getByText(/calls wait for a decision/);
    const before = await pending.textContent();
    // A decision that would be carried out, if the host took it from anybody.
    let decision = '';
    await page.route('**/approvals/decide', (route) => {
      decision = route.request().postData() ?? '';
      return route.abort();
    });
    await page.getByRole('button', { name: 'Deny', exact: true }).click();
    await expect.poll(() => decision, { timeout: 20_000 }).toContain('"deny"');
    const evil = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end(`<iframe src="${server.url}/"></iframe>`);
    }).listen(0, '127.0.0.1');
    await once(evil, 'listening');
    const { port } = evil.address() as { port: number };
    const other = await context.newPage();
    await other.goto(`http://127.0.0.1:${port}/`, { waitUntil: 'load' });
    expect(other.frames().map((frame) => frame.url())).toEqual([other.url(), 'chrome-error://chromewebdata/']);
    const api = `${server.url}/console/api`;
    const tried = await other.evaluate(
      async ([at = '', body = '']) => {
        const read = await fetch(`${at}/session`, { credentials: 'include' }).then(
          () => 'read',
          () => 'refused',
        );
        await fetch(`${at}/approvals/decide`, {
          ...{ method: 'POST', mode: 'no-cors', credentials: 'include' },
          body,
        }).catch(() => {});
        const followed = await new Promise((resolve) => {
          const stream = new EventSource(`${at}/events`, { withCredentials: true });
          stream.onopen = () => resolve('open');
          stream.onerror = () => resolve('refused');
        });
        const connected = await new Promise((resolve) => {
          const socket = new WebSocket(at.replace('http', 'ws').replace('console/api', 'api/v1/ws'));
          socket.onopen = () => resolve('open');
          socket.onerror = () => resolve('refused');
        });
        const { localStorage } = globalThis as unknown as { localStorage: { length: number } };
        return [read, followed, connected, localStorage.length];
      },
      [api, decision],
    );
    expect(tried).toEqual(['refused', 'refused', 'refused', 0]);
    // A name of the attacker that leads to this machine is not an origin of this host.
    const rebound = await other.goto(server.url.replace('127.0.0.1', 'rebound.test'));
    expect([rebound?.status(), await other.getByRole('link', { name: 'Inbox' }).count()]).toEqual([403, 0]);
    await page.reload();
    expect(await pending.textContent()).toBe(before);
    evil.closeAllConnections();
    evil.close();
  });

  test('the page runs no script that was put into it, and an agent with its token gets nothing [B16]', async () => {
    const { page } = await arrive(await newLink(home));
    const ran = await page.evaluate(`(async () => {
      const tried = [];
      // What the debugger starts may use eval; what runs after it is the page's own.
      await new Promise((resolve) => setTimeout(resolve));
      try { tried.push(eval('"eval"')); } catch {}
      const put = (name, parts) => document.body.append(Object.assign(document.createElement(name), parts));
      put('script', { textContent: 'globalThis.__hit = 1' });
      put('script', { src: 'data:text/javascript,globalThis.__hit = 1' });
      document.body.insertAdjacentHTML('beforeend', '<img src="x" onerror="globalThis.__hit = 1"><a id="js" href="javascript:globalThis.__hit=1">x</a>');
      document.getElementById('js').click();
      await fetch('http://rebound.test:1/', { mode: 'no-cors' }).then(() => tried.push('fetch'), () => {});
      await new Promise((resolve) => setTimeout(resolve, 300));
      return [...tried, ...('__hit' in globalThis ? ['a script'] : [])];
    })()`);
    expect(ran).toEqual([]);
    const stranger = await (await browser.newContext()).newPage();
    await stranger.goto(server.url);
    await stranger.getByRole('heading', { name: 'You are not logged in' }).waitFor();
    const statuses = await stranger.evaluate(async (token) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const ask = async (path: string, body?: string) =>
        (await fetch(`/console/api/${path}`, { headers, ...(body === undefined ? {} : { method: 'POST', body }) }))
          .status;
      return [await ask('approvals'), await ask('login', '{"link":"guess"}'), await ask('approvals/decide', '{}')];
    }, server.token);
    expect(statuses).toEqual([403, 403, 403]);
  });

  test('a used link, a run that is gone, a revoked session and a host that stops say what to do [B16]', async () => {
    const link = await newLink(home);
    const { page } = await arrive(link);
    const again = await browser.newContext();
    const late = await again.newPage();
    await late.goto(link);
    await late.getByText(/wrong or was used before: it works once/).waitFor();
    await late.getByText('codemode console', { exact: true }).waitFor();
    expect(await seriousProblems(late)).toEqual([]);
    await late.goto(`${server.url}/?again#link=${'A'.repeat(43)}`);
    await late.getByText(/wrong or was used before: it works once/).waitFor();
    await page.goto(`${server.url}/#/runs/00000000-0000-4000-8000-000000000000`);
    await page.getByText(/oldest ended runs are deleted/).waitFor();
    const other = await arrive(await newLink(home, '--approver'));
    await visit(page, 'Connect');
    await page
      .getByRole('row', { name: /approver/ })
      .getByRole('button', { name: 'Revoke' })
      .first()
      .click();
    await other.page.getByText(/revoked/).waitFor();
    await expireSessions(home);
    await visit(page, 'Usage').catch(() => {});
    await page.getByText('This session has expired.', { exact: false }).waitFor();
    await page.goto(await newLink(home));
    await page.getByText('Live', { exact: true }).waitFor();
    await server.stop();
    await page.getByText('The host was stopped, and the session ended with it.', { exact: false }).waitFor();
    expect(await page.evaluate('localStorage.getItem("codemode.key")')).toBeNull();
  });
});
