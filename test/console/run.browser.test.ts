import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { logIn, newLink, openBrowser, SHOP_SERVERS, seriousProblems, visit } from '../support/console.js';
import { needs } from '../support/needs.js';
import { openHome, ready, run, runProgram, startServe } from '../support/program.js';

/* What a person looks for in a run: with what each call was made, what it gave, and why the program failed. */

const SCRIPT = `import { get_issue } from '@codemode/servers/shop';
globalThis.__codemode_result__ = (await get_issue({ number: 4724 })).title;`;
const NESTED = `import { list_issues } from '@codemode/servers/shop';
import { runScript } from '@codemode/scripts';
const { issues } = await list_issues({ label: 'bug' });
globalThis.__codemode_result__ = [issues.length, await runScript('one-title')];`;
const REFUSED = `import { get_issue } from '@codemode/servers/shop';
const issue = await get_issue({ number: 'the first one' });
globalThis.__codemode_result__ = issue.title;`;
const TWO_WRITES = `import { update_ticket } from '@codemode/servers/tracker';
const ended = await Promise.allSettled(['SHOP-1', 'SHOP-2'].map((id) => update_ticket({ id, status: 'done' })));
globalThis.__codemode_result__ = ended.length;`;
const LONG_LINE = `import { update_ticket } from '@codemode/servers/tracker';
globalThis.__codemode_result__ = await update_ticket({ id: 'SHOP-4711', status: 'done', comment: 'The voucher counts again in every currency, and this is the end' });`;
const SENDS = `import { list_issues } from '@codemode/servers/shop';
import { post_message } from '@codemode/servers/channel';
const { issues } = await list_issues({});
await post_message({ channel: '#shop', text: issues[0].title });`;

const LISTS = `import { list_issues } from '@codemode/servers/shop';
globalThis.__codemode_result__ = (await list_issues({})).issues.length;`;
const ONE_WRITE = `import { get_issue } from '@codemode/servers/shop';
import { update_ticket } from '@codemode/servers/tracker';
const { title } = await get_issue({ number: 4724 });
globalThis.__codemode_result__ = await update_ticket({ id: '<b>SHOP-7</b>\\u202e', status: 'done', comment: title });`;
const PUBLIC = { tools: 'channel/*', decision: 'ask', reason: 'everybody reads this channel' };
const REOPEN = {
  tool: 'tracker/update_ticket',
  with: 'update_ticket',
  arguments: { id: '$arguments.id', status: 'open' },
};

describe('a run in the console', needs('chromium', 'bubblewrap'), () => {
  let home: ReturnType<typeof openHome>;
  let server: Awaited<ReturnType<typeof startServe>>;
  let browser: Browser;
  let page: Page;
  let agent: Awaited<ReturnType<(typeof server)['connect']>>;

  beforeAll(async () => {
    home = openHome({
      approvals: { grace: '20ms' },
      mcpServers: SHOP_SERVERS,
      policy: { rules: [PUBLIC], undo: [REOPEN] },
    });
    const added = await addScript(home);
    if (added !== 0) throw new Error('the script was not stored');
    [server, browser] = await Promise.all([startServe(home), openBrowser()]);
    ({ page } = await logIn(browser, await newLink(home)));
    agent = await server.connect();
    await ready(agent.client, 'shop', 'tracker');
  }, 90_000);
  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]();
    await browser?.close();
    await server?.stop();
    home?.[Symbol.dispose]();
  });

  /** A run of the person at this machine: what a client over HTTP did is its own to undo. */
  async function runHere(source: string): Promise<void> {
    const file = join(home.work, 'here.ts');
    writeFileSync(file, source);
    await runProgram(home, 'run', file);
  }

  async function openNewest(): Promise<void> {
    await visit(page, 'Runs');
    await page.locator('a.run-row').first().click();
    await page.getByRole('heading', { name: 'Program' }).waitFor();
  }

  test('a call shows what it was given and what it answered, a call of a stored script too [B16]', async () => {
    await run(agent.client, NESTED);
    await openNewest();
    await page.getByRole('button', { name: /list_issues/ }).click();
    const given = page.getByLabel(/^Arguments of call/);
    const answer = page.getByLabel('Answer of the call');
    await given.getByText('"bug"').waitFor();
    await answer.getByText('issues').first().waitFor();
    await page.getByRole('button', { name: /get_issue/ }).click();
    await given.getByText('4724').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await seriousProblems(page)).toEqual([]);
  });

  test('the list says why a run failed, and the call that failed shows its error [B16]', async () => {
    await run(agent.client, REFUSED);
    await visit(page, 'Runs');
    const reason = page.locator('a.run-row').first().locator('.run-problem');
    await reason.getByText(/SchemaValidationError|number/).waitFor();
    await reason.click();
    await page.getByRole('button', { name: 'Go to line 2' }).click();
    await expect(page.locator('.code li.failed').evaluate(backgroundOf)).resolves.toBe(
      await page.locator('.note.bad').first().evaluate(backgroundOf),
    );
    await page
      .locator('.call-detail')
      .getByRole('note')
      .getByText(/number/)
      .first()
      .waitFor();
    // From a diagnostic to its line, where both are not on one screen.
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByRole('tab', { name: /^Diagnostics/ }).click();
    await page.locator('.diagnostics').getByRole('button', { name: 'Go to line 2' }).click();
    await expect.poll(() => isInSight(page.locator('.code li.failed')), { timeout: 20_000 }).toBe(true);
    await page.setViewportSize({ width: 1280, height: 860 });
  });

  test('each run of the list shows its calls and the tokens it saved, in rows that do not overlap [B16]', async () => {
    await run(agent.client, LISTS);
    await visit(page, 'Runs');
    const newest = page.locator('a.run-row').first();
    await expect.poll(() => newest.textContent(), { timeout: 20_000 }).toMatch(/1 calls.*\d tokens saved/);
    await page.setViewportSize({ width: 360, height: 740 });
    await newest.getByText(/^1 call,/).waitFor();
    expect(await page.evaluate(overlappingRows)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 860 });
  });

  test('a run that worked is kept as a tool with an input, and found among the tools [B16]', async () => {
    await runHere(SCRIPT);
    await openNewest();
    await page.getByRole('button', { name: 'Keep as tool' }).click();
    const dialog = page.getByRole('dialog', { name: 'Keep as tool' });
    await dialog.getByLabel('Name', { exact: true }).fill('Title of an issue');
    await dialog.getByText(/cannot be the name of a script/).waitFor();
    await dialog.getByLabel('Name', { exact: true }).fill('issue-title');
    await dialog.getByLabel(/^What it does/).fill('The title of an issue.');
    await dialog.getByRole('checkbox').check();
    await dialog.getByLabel('What is kept').getByText('input.number').waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Keep', exact: true }).click();
    await page.getByRole('dialog', { name: 'Kept as a tool' }).getByText('issue_title({ number: 4724 })').waitFor();
    await page.keyboard.press('Escape');
    await page.goto(`${server.url}/#/tools/@scripts/issue-title`);
    await page.getByText('The title of an issue.').first().waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Open in the playground' }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('.badge', { hasText: 'succeeded' }).waitFor();
    const { stdout } = await runProgram(home, 'scripts', 'list', '--json');
    const kept = JSON.parse(stdout) as { name: string; inputSchema: { required: string[] } }[];
    expect(kept.find(({ name }) => name === 'issue-title')).toMatchObject({ inputSchema: { required: ['number'] } });
  });

  test('a run is undone: what can be undone is shown, a person is asked, then it is done [B16]', async () => {
    await runHere(ONE_WRITE);
    await visit(page, 'Inbox');
    const card = page.getByRole('article', { name: 'tracker/update_ticket' });
    await card.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByRole('link', { name: 'Open the run' }).last().click();
    await page.locator('h1', { hasText: 'succeeded' }).waitFor();
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Undo this run' });
    await dialog.getByText('nothing to undo').waitFor();
    // What a program sent is text here too.
    await dialog.getByText('<b>SHOP-7</b>\\u202e').waitFor();
    expect(await dialog.locator('b').count()).toBe(0);
    expect(await seriousProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Undo 1 call' }).click();
    await dialog.getByRole('link', { name: 'Decide in the inbox' }).click();
    await card.getByText('"open"').waitFor();
    await card.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('Approved 1 call.').last().waitFor();
    await page.getByRole('status').getByRole('link', { name: 'Open the run' }).last().click();
    await dialog.getByRole('button', { name: 'Undo 1 call' }).click();
    await dialog.getByText('Undone: 1 call.').waitFor();
    await dialog.getByText('undone', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
  });

  test('a card without its first row is decided after a reload, and what was left out after that [B16]', async () => {
    const pending = run(agent.client, TWO_WRITES);
    await visit(page, 'Inbox');
    const card = page.getByRole('article', { name: 'tracker/update_ticket' });
    await card.getByRole('checkbox', { name: 'Include call' }).first().uncheck();
    await card.getByLabel('Reason').fill('the first one is not done');
    await page.reload();
    await card.getByText('1 of 2 calls').waitFor();
    expect(await card.getByLabel('Reason').inputValue()).toBe('the first one is not done');
    await card.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('Approved 1 call.').waitFor();
    await card.getByText('"SHOP-1"').waitFor();
    await card.getByRole('button', { name: 'Deny', exact: true }).click();
    await page.getByText('Denied 1 call.').waitFor();
    await pending;
  });

  test('a reload shows the card that was chosen; one that sends private data away says so [B16]', async () => {
    const pending = [run(agent.client, SENDS), run(agent.client, TWO_WRITES)];
    await visit(page, 'Inbox');
    const rows = page.locator('.card-row');
    await rows.nth(1).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('j');
    const chosen = page.locator('.card-row.selected');
    const before = await chosen.textContent();
    await page.reload();
    await rows.nth(1).waitFor();
    expect(withoutTime(await chosen.textContent())).toBe(withoutTime(before));
    await rows.filter({ hasText: 'post_message' }).click();
    const reason = page.getByRole('listitem').filter({ hasText: 'flow guard' });
    expect(await reason.textContent()).toContain(
      'the run read private data from shop. This call sends data to an external server.',
    );
    const rule = page.getByRole('listitem').filter({ hasText: 'rule 1' });
    expect(await rule.textContent()).toMatch(/^Everybody reads this channel\.rule 1codemode\.config\.json:\d+:\d+$/);
    await page.locator('body').click({ position: { x: 4, y: 400 } });
    for (let left = 2; left > 0; left -= 1) {
      await expect.poll(() => rows.count(), { timeout: 20_000 }).toBe(left);
      await page.keyboard.press('d');
    }
    await page.getByRole('heading', { name: 'Nothing waits for a decision' }).waitFor();
    await Promise.all(pending);
  });

  test('a line that waits for a decision is in sight to its end, on a narrow screen too [B16]', async () => {
    const pending = run(agent.client, LONG_LINE);
    await visit(page, 'Inbox');
    const card = page.getByRole('article', { name: 'tracker/update_ticket' });
    await card.getByRole('link', { name: 'Open the run' }).click();
    for (const [tab, text] of [
      ['Logs', 'The run is suspended: its logs are here when it ends.'],
      ['Answer', 'The run is suspended: its answer is here when it ends.'],
    ] as const) {
      await page.getByRole('tab', { name: tab, exact: true }).click();
      await page.getByText(text).waitFor();
    }
    await visit(page, 'Inbox');
    await card.getByText('Its server says that it is destructive.').waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    const code = card.getByLabel('Lines of the program');
    await code.getByText('this is the end').waitFor();
    expect(await code.evaluate(hiddenWidth)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 860 });
    await card.getByRole('button', { name: 'Deny', exact: true }).click();
    await page.getByRole('heading', { name: 'Nothing waits for a decision' }).waitFor();
    await pending;
  });
});

function addScript(home: ReturnType<typeof openHome>): Promise<number> {
  const file = `${home.work}/one-title.ts`;
  writeFileSync(file, SCRIPT);
  return runProgram(home, 'scripts', 'add', 'one-title', file).then(({ status }) => status);
}

/** How long a card still waits changes meanwhile. */
function withoutTime(text: string | null): string | undefined {
  return text?.replace(/[\d:]+ (?:h|min|days) left/, '');
}

async function isInSight(part: Locator): Promise<boolean> {
  const { y = -1 } = (await part.boundingBox()) ?? {};
  return y > 0 && y < 740;
}

function backgroundOf(element: unknown): string {
  const { getComputedStyle } = globalThis as unknown as {
    getComputedStyle: (of: unknown) => { backgroundColor: string };
  };
  return getComputedStyle(element).backgroundColor;
}

function hiddenWidth(box: unknown): number {
  const { scrollWidth, clientWidth } = box as { scrollWidth: number; clientWidth: number };
  return scrollWidth - clientWidth;
}

/** Texts of rows that reach into the next row. */
const overlappingRows = `[...document.querySelectorAll('.virtual-row')].flatMap((row) => {
  const { bottom } = row.getBoundingClientRect();
  return [...row.querySelectorAll('span')].filter((each) => each.getBoundingClientRect().bottom > bottom + 1).map((each) => each.textContent);
})`;
