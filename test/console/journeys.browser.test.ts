import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  HOSTILE_SERVER,
  logIn,
  newLink,
  openBrowser,
  type Person,
  SHOP_SERVERS,
  seriousProblems,
  visit,
} from '../support/console.js';
import { needs } from '../support/needs.js';
import { openHome, ready, run, runProgram, startServe } from '../support/program.js';

/* Each screen as a person uses it: a real browser, a real host, real servers. One host and one person for all of them. */

const SCREENS = ['Inbox', 'Runs', 'Playground', 'Tools', 'Policy', 'Audit', 'Usage', 'Connect'];
const COMPILER = fileURLToPath(new URL('../../node_modules/typescript-native', import.meta.url));
const PICTURES = fileURLToPath(new URL('../../coverage/console/', import.meta.url));
/** Drawing them takes a third of a second of a core each: only for `scripts/console-pictures.mjs`. */
const TAKES_PICTURES = process.env.CODEMODE_PICTURES === '1';

const CLOSE_TICKETS = `import { list_issues, get_issue } from '@codemode/servers/shop';
import { update_ticket } from '@codemode/servers/tracker';
// Close what is fixed.
const { issues } = await list_issues({ label: 'bug' });
const fixed = [];
for (const { number } of issues) {
  const issue = await get_issue({ number });
  if (issue.isFixed) fixed.push(issue);
}
console.log({ fixed: fixed.length });
const closed = await Promise.allSettled(fixed.map(({ number, title }) =>
  update_ticket({ id: 'SHOP-' + number, status: 'done', comment: title })));
globalThis.__codemode_result__ = closed.map(({ status }) => status);`;
const FAILS = `import { list_issues } from '@codemode/servers/shop';
const { issues } = await list_issues({});
globalThis.__codemode_result__ = issues[99].title;`;

const SMALL_HOSTILE = `import { echo } from '@codemode/servers/hostile';
const { said } = await echo({ text: '<img src=x onerror="globalThis.__hit=1"> \u202e\u200b' });
globalThis.__codemode_result__ = said;`;

const WRONG_TYPE = `import { update_ticket } from '@codemode/servers/tracker';
await update_ticket({ id: 12 });`;

/** The heading of each screen that has nothing to show yet. */
const EMPTY: Readonly<Record<string, string>> = {
  Inbox: 'Nothing waits for a decision',
  Playground: 'No answer yet',
  Tools: 'Choose a tool or a server',
  Policy: 'You have no rules yet',
  Audit: 'No records yet',
};
/** What each of these screens is opened for. */
const SHOWN: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  Usage: ['Tokens saved on answers', /^\d+ calls in \d+ runs that ended$/, 'Latency: median, 95th percentile'],
  Connect: ['Claude Code', 'Other clients that have connected', 'Sessions of this console'],
};

/** Whether a person sees its beginning without scrolling. */
async function isInSight(part: Locator): Promise<boolean> {
  const { y = -1 } = (await part.boundingBox()) ?? {};
  return y > 0 && y < 740;
}

describe('the console in a real browser', needs('chromium', 'bubblewrap'), () => {
  let home: ReturnType<typeof openHome>;
  let server: Awaited<ReturnType<typeof startServe>>;
  let browser: Browser;
  let person: Person;
  let page: Page;
  let agent: Awaited<ReturnType<(typeof server)['connect']>>;

  beforeAll(async () => {
    mkdirSync(PICTURES, { recursive: true });
    home = openHome({
      approvals: { grace: '20ms' },
      check: { compiler: COMPILER },
      mcpServers: { ...SHOP_SERVERS, ...HOSTILE_SERVER },
    });
    writeFileSync(home.configFile, `// Mine.\n${readFileSync(home.configFile, 'utf8')}`);
    [server, browser] = await Promise.all([startServe(home), openBrowser()]);
    person = await logIn(browser, await newLink(home));
    page = person.page;
    agent = await server.connect();
    await ready(agent.client, 'shop', 'tracker', 'channel', 'hostile');
  }, 90_000);
  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]();
    await browser?.close();
    await server?.stop();
    home?.[Symbol.dispose]();
  });

  async function takePicture(name: string): Promise<void> {
    if (TAKES_PICTURES) await page.screenshot({ path: join(PICTURES, `${name}.png`) });
  }

  /** Every screen once, in both colours and on a narrow screen, where it must fit. */
  async function takePictures(name: string): Promise<void> {
    await page.evaluate(`scrollTo(0, 0); for (const each of document.querySelectorAll('.toast button')) each.click()`);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await takePicture(`${name}-${colorScheme}`);
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 360, height: 740 });
    await takePicture(`${name}-narrow`);
    const isTooWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
    await page.setViewportSize({ width: 1280, height: 860 });
    expect([name, isTooWide]).toEqual([name, false]);
  }

  /** For the README: as large as a picture is there. */
  async function takeSmallPicture(name: string, height: number): Promise<void> {
    await page.setViewportSize({ width: 1120, height });
    await takePicture(`${name}-small`);
    await page.setViewportSize({ width: 1280, height: 860 });
  }

  test('a link logs in once, leaves the address bar, and every empty screen says what to do [B16]', async () => {
    expect(page.url()).not.toContain('link=');
    for (const screen of SCREENS) {
      await visit(page, screen);
      await expect.poll(() => page.title(), { timeout: 20_000 }).toContain(screen);
      const empty = EMPTY[screen];
      if (empty !== undefined) await page.getByRole('heading', { name: empty }).waitFor();
    }
  });

  test('something is painted within a second of opening the page [B16]', async () => {
    const paintMs = async () => {
      await page.reload();
      await page.getByRole('heading', { level: 1 }).waitFor();
      return page.evaluate<number>(`performance.getEntriesByName('first-contentful-paint')[0].startTime`);
    };
    // The best of several: other programs of this machine delay single ones.
    await expect.poll(paintMs, { timeout: 20_000 }).toBeLessThan(1_000);
  });

  test('no script of the page reads the cookie of a session [B16]', async () => {
    const [cookie, ...others] = await person.context.cookies(`${server.url}/console/api`);
    expect([cookie, others]).toMatchObject([{ httpOnly: true, sameSite: 'Strict', domain: '127.0.0.1' }, []]);
    expect(await page.evaluate('document.cookie')).toBe('');
  });

  test('the playground runs a program, and shows the answer for a person and as the model reads it [B16]', async () => {
    await visit(page, 'Playground');
    const editor = page.locator('.cm-content');
    await editor.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(FAILS.replace('issues[99].title', 'issues.length'));
    // Where the answer is below the program, it is scrolled to.
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const tokens = page.getByText(/\d+ tokens?$/).first();
    await tokens.waitFor();
    await expect.poll(() => isInSight(tokens), { timeout: 20_000 }).toBe(true);
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.getByRole('tab', { name: 'As the model reads it' }).click();
    await expect(page.getByLabel('Answer as the model reads it').textContent()).resolves.toContain('6');
    await takePictures('playground');
    await page.getByRole('link', { name: 'Open the run' }).click();
    await page.getByText('succeeded').first().waitFor();
  });

  test('completion knows the tools and imports the one that is chosen [B16]', async () => {
    await visit(page, 'Playground');
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('const x = await upd');
    // By a click: the editor ignores keys in the first moment of a list, so that nobody chooses what he has not seen.
    await page.getByRole('option', { name: 'update_ticket' }).first().click();
    await expect
      .poll(() => page.locator('.cm-content').textContent(), { timeout: 20_000 })
      .toMatch(/import \{ update_ticket \} from '@codemode\/servers\/tracker';.*await update_ticket/);
  });

  test('type errors are marked in the text, listed, and gone when they are fixed [B16]', async () => {
    await visit(page, 'Playground');
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(WRONG_TYPE);
    const said = page.getByRole('button', { name: /^Line 2 .*not assignable to type 'string'/ });
    await said.waitFor();
    const mark = page.locator('.cm-problem.error', { hasText: /^id$/ });
    await mark.hover();
    await page
      .locator('.cm-problem-text')
      .getByText(/not assignable/)
      .waitFor();
    await takePictures('playground-types');
    expect(await seriousProblems(page)).toEqual([]);
    await said.click();
    expect(await page.evaluate(`document.querySelector('.editor').shadowRoot.activeElement?.className`)).toContain(
      'cm-content',
    );
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(WRONG_TYPE.replace('12', "'12'"));
    await page.getByText('No type errors.').waitFor();
    expect(await page.locator('.cm-problem').count()).toBe(0);
    // What the pointer rests on is explained by its declaration.
    await page
      .locator('.cm-line span', { hasText: /^update_ticket$/ })
      .last()
      .hover();
    await page.locator('.cm-tool').getByText('Changes the status of a ticket').waitFor();
  });

  test('a loop is one card; rows are left out, the rest is approved, and the other decider is told [B16]', async () => {
    await visit(page, 'Inbox');
    const other = await logIn(browser, await newLink(home, '--approver'), { permissions: ['notifications'] });
    await other.page.getByRole('button', { name: 'Notify me' }).click();
    await other.page.getByRole('button', { name: 'Stop notifying me' }).waitFor();
    // A headless browser shows no notification, and no page of it is ever out of sight.
    await other.page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
      globalThis.told = []; globalThis.Notification = class { constructor(title, { body }) { told.push(body); } };`);
    const pending = run(agent.client, CLOSE_TICKETS);
    const card = page.getByRole('article', { name: 'tracker/update_ticket' });
    await card.waitFor();
    expect(await card.getByRole('checkbox').count()).toBe(3);
    await expect(card.getByLabel('Lines of the program').textContent()).resolves.toContain('update_ticket');
    await other.page.getByRole('article', { name: 'tracker/update_ticket' }).waitFor();
    await expect
      .poll(() => other.page.evaluate('told.join()'), { timeout: 20_000 })
      .toMatch(/^\d calls? waits? for your decision/);
    await takePictures('inbox');
    await takeSmallPicture('inbox', 860);
    expect(await seriousProblems(page)).toEqual([]);

    await card.getByRole('checkbox', { name: 'Include call' }).last().uncheck();
    await card.getByLabel('Reason').fill('they are fixed');
    await card.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('Approved 2 calls.').waitFor();
    // The pressed button is gone with its card: the keyboard goes on at the next one.
    await expect.poll(() => page.evaluate('document.activeElement.id'), { timeout: 20_000 }).toMatch(/^card-/);
    await other.page.getByText(/approved the call that you looked at .*, before you/).waitFor();
    // The row that was left out still waits; by keyboard now.
    await expect.poll(() => card.getByRole('checkbox').count(), { timeout: 20_000 }).toBe(0);
    await page.keyboard.press('Escape');
    await page.locator('body').click({ position: { x: 4, y: 400 } });
    await page.keyboard.press('a');
    await page.getByText('Approved 1 call.').waitFor();
    await page.getByRole('heading', { name: 'Nothing waits for a decision' }).waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await page.getByRole('tab', { name: 'All', exact: true }).click();
    await card.getByText(/^Calls \d+, \d+: Approved by .*for these calls only: they are fixed$/).waitFor();
    await card.getByText(/^Call \d+: Approved by .*for this call only\.$/).waitFor();
    await other.context.close();
    await pending;
  });

  test('a run shows its program beside its calls, linked by line, and its journal is replayed [B16]', async () => {
    await visit(page, 'Runs');
    await page.locator('a.run-row').first().click();
    await page.getByText('succeeded').first().waitFor();
    await page.getByRole('button', { name: /^Line 7: 6 calls/ }).click();
    await page.getByRole('button', { name: 'Go to line 7' }).waitFor();
    await page.getByText(/, without \d waits? of /).waitFor();
    await takePictures('run');
    await takeSmallPicture('run', 720);
    const slider = page.getByRole('slider', { name: 'Delivery' });
    await slider.fill('3');
    await page.getByText(/^3 of \d+$/).waitFor();
    await page.getByRole('tab', { name: 'Flow' }).click();
    await page.locator('.flow-step .badge', { hasText: 'private' }).first().waitFor();
    expect(await seriousProblems(page)).toEqual([]);
  });

  test('a failed run says why and where; it is exported, and opened from the file [B16]', async () => {
    await run(agent.client, FAILS);
    await visit(page, 'Runs');
    await page.locator('.run-row .badge.bad').first().click();
    await page
      .getByRole('note')
      .getByText(/TypeError/)
      .waitFor();
    await page.getByRole('button', { name: 'Go to line 3' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export', exact: true }).click(),
    ]);
    const file = join(home.work, 'run.json');
    await download.saveAs(file);
    await visit(page, 'Runs');
    await page.getByLabel('Exported run').setInputFiles(file);
    await page.getByText('From the file run.json.').waitFor();
    await page
      .getByRole('note')
      .getByText(/TypeError/)
      .waitFor();
    await page.goBack();
    await page.locator('.run-row .badge.bad').first().click();
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.locator('.cm-content').getByText('issues[').first().waitFor();
  });

  test('two runs are compared: their states, their calls and the lines that differ [B16]', async () => {
    await visit(page, 'Runs');
    await page.locator('.run-row .badge.bad').first().click();
    await page.getByRole('link', { name: 'Compare', exact: true }).click();
    await page.getByText('Choose the run to compare with').waitFor();
    await page.locator('.run-row .badge.good').last().click();
    await page.getByRole('heading', { level: 1, name: 'Compare two runs' }).waitFor();
    await page.getByText('failed', { exact: true }).waitFor();
    await page.locator('.diff .removed, .removed').first().waitFor();
    await takePictures('compare');
    await page.setViewportSize({ width: 360, height: 740 });
    const { x = 0, width = 360 } = (await page.getByText('succeeded', { exact: true }).first().boundingBox()) ?? {};
    expect(x + width).toBeLessThan(360);
    await page.setViewportSize({ width: 1280, height: 860 });
    expect(await seriousProblems(page)).toEqual([]);
  });

  test('tools, policy, audit, usage and connect do their work, and axe finds nothing serious [B16]', async () => {
    await visit(page, 'Tools');
    // Chosen among all tools: the search stays one over all servers.
    await page.getByRole('link', { name: /^update_ticket/ }).click();
    await page.getByRole('tab', { name: 'Declaration' }).waitFor();
    await page.getByRole('searchbox').fill('issue');
    await page.getByRole('link', { name: /^get_issue score \d/ }).click();
    await page.getByText(/preset default: /).waitFor();
    await page.getByRole('tab', { name: 'Observed output' }).click();
    await page.getByText(/isFixed: boolean/).waitFor();
    await page.getByRole('tab', { name: 'Schema' }).click();
    await page.getByText('"object"').first().waitFor();
    await page.getByRole('tab', { name: 'Try it' }).click();
    await page.getByLabel('number', { exact: true }).fill('4711');
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await page.getByText('Checkout total ignores the voucher', { exact: true }).waitFor();
    await takePictures('tools');
    const problems = [await seriousProblems(page)];
    await page
      .getByRole('link', { name: /^tracker/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Reconnect' }).click();
    await page.getByText('Connected again.').waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Reconnect');

    await visit(page, 'Policy');
    const draft = page.getByLabel('Tools', { exact: true });
    await draft.fill('get_*');
    await draft.press('Enter');
    await page
      .getByRole('alert')
      .getByText(/^tools: expected a pattern such as /)
      .waitFor();
    await draft.fill('shop/get_*');
    await page.getByLabel('Decision').selectOption('deny');
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByRole('button', { name: 'Try it', exact: true }).click();
    const report = page.getByText(/would have come out differently/);
    await report.waitFor();
    await expect.poll(() => isInSight(report), { timeout: 20_000 }).toBe(true);
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.locator('.changes summary', { hasText: 'shop/get_issue' }).click();
    await page.locator('.change').first().getByText('number').waitFor();
    await takePictures('policy');
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog').getByText('shop/get_').first().waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText(/^Saved to /).waitFor();
    expect(readFileSync(home.configFile, 'utf8')).toMatch(/^\/\/ Mine\.\n.*\{ "tools": \["shop\/get_\*"\], /s);
    await page.getByText('after a restart', { exact: true }).waitFor();
    problems.push(await seriousProblems(page));

    await visit(page, 'Audit');
    await page.getByRole('button', { name: 'Verify the chain' }).click();
    await page.getByText('intact', { exact: true }).waitFor();
    const [records] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export', exact: true }).click(),
    ]);
    expect(readFileSync(await records.path(), 'utf8')).toMatch(/^\{.*"hash":/);
    await takePictures('audit');
    problems.push(await seriousProblems(page));
    for (const screen of ['Usage', 'Connect', 'Runs', 'Playground']) {
      await visit(page, screen);
      await page
        .getByText(/^Loading/)
        .first()
        .waitFor({ state: 'detached' });
      await takePictures(screen.toLowerCase());
      problems.push(await seriousProblems(page));
      for (const text of SHOWN[screen] ?? []) await page.getByText(text).first().waitFor();
    }
    await visit(page, 'Connect');
    await page.getByText(`--config ${home.configFile} install claude-code`).waitFor();
    expect(problems.flat()).toEqual([]);
  });

  test('keys move and help, and a reload comes back to the same screen, live again [B16]', async () => {
    await visit(page, 'Runs');
    await page.keyboard.press('j');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Next run').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement.type')).toBe('search');
    await visit(page, 'Usage');
    await page.keyboard.press('/');
    const goTo = page.getByRole('dialog', { name: 'Go to' });
    await goTo.getByRole('searchbox').fill('get_issue');
    await goTo.getByRole('link', { name: /^shop\/get_issue/ }).waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: 'Try it' }).waitFor();
    await visit(page, 'Runs');
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
  });

  test('text of servers, tools and programs stays text on every screen, hidden characters visible [B16]', async () => {
    const program = `import { echo, strike } from '@codemode/servers/hostile';
      const { said } = await echo({ text: 'begin ' });
      console.log(said);
      await strike({ text: said, long: 'y'.repeat(200_000) }).catch(() => {});
      globalThis.__codemode_result__ = { said, [said]: 'a key', long: 'z'.repeat(10_000_000) };`;
    const running = run(agent.client, program, { requestedCapabilities: ['hostile'] });
    const shown: string[] = [];
    const look = async () => {
      const state = await page.evaluate<{ text: string; injected: number; isHit: boolean }>(`({
        text: document.body.innerText,
        injected: document.querySelectorAll('main img, main script, main b').length,
        isHit: '__hit' in globalThis })`);
      expect(state).toMatchObject({ injected: 0, isHit: false });
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
      expect(state.text).not.toMatch(/[\u001b\u202e\u200b\ufeff]/);
      shown.push(state.text);
    };
    await visit(page, 'Inbox');
    await page.getByRole('article', { name: /hostile/ }).waitFor();
    await look();
    expect(shown[0]).toContain('\\u202e');
    await page.locator('body').click({ position: { x: 4, y: 400 } });
    await page.keyboard.press('d');
    await page.getByText('Denied 1 call.').waitFor();
    await running;
    await visit(page, 'Runs');
    await look();
    await page.locator('a.run-row').first().click();
    await page.getByRole('tab', { name: /^Logs/ }).waitFor();
    await expect.poll(() => page.locator('h1').textContent(), { timeout: 15_000 }).toMatch(/succeeded|failed/);
    for (const tab of [/^Result/, /^Logs/, /^Answer/, /^Approvals/]) {
      await page.getByRole('tab', { name: tab }).click();
      await look();
    }
    const small = join(home.work, 'small.ts');
    writeFileSync(small, SMALL_HOSTILE);
    await runProgram(home, 'run', small);
    await visit(page, 'Runs');
    await page.locator('a.run-row', { hasText: 'command line' }).first().click();
    await page.getByRole('button', { name: 'Keep as tool' }).click();
    const keep = page.getByRole('dialog', { name: 'Keep as tool' });
    await keep.getByLabel('Name', { exact: true }).fill('hostile');
    await keep.getByLabel(/^What it does/).fill('<img src=x onerror="globalThis.__hit=1"> \u202e\u001b[31m');
    await keep.getByLabel('What is kept').waitFor();
    await look();
    await keep.getByRole('button', { name: 'Keep', exact: true }).click();
    await page.getByRole('dialog', { name: 'Kept as a tool' }).waitFor();
    await look();
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.getByRole('dialog', { name: 'Go to' }).getByRole('searchbox').fill('echo');
    await page.getByRole('dialog', { name: 'Go to' }).getByRole('link', { name: /tool$/ }).first().waitFor();
    await look();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    for (const place of [
      'tools/@scripts/hostile',
      'tools/hostile',
      'tools/hostile/echo',
      'audit',
      'usage',
      'policy',
      'connect',
      'playground',
    ]) {
      await page.goto(`${server.url}/#/${place}`);
      await page
        .getByText(/^Loading/)
        .first()
        .waitFor({ state: 'detached' });
      await look();
    }
    expect(shown.join('\n')).toContain('<img src=x onerror=');
    expect(person.complaints.filter((text) => text.startsWith('dialog'))).toEqual([]);
  });

  test('the page asked nobody but its host, and its policy refused nothing [B16]', () => {
    const hosts = new Set(person.requests.filter((url) => !url.startsWith('blob:')).map((url) => new URL(url).origin));
    expect([...hosts]).toEqual([server.url]);
    // Chromium styles what is typed over a selection by itself, and the policy refuses that: nothing is lost by it.
    const complaints = person.complaints.filter((text) => !text.startsWith('Applying inline style'));
    // The draft with a mistake.
    expect(complaints).toEqual([expect.stringContaining('status of 400')]);
  });
});
