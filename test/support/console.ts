import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type Home, nodeServer, runProgram } from './program.js';
import { fixture } from './upstreams.js';

/** The servers that the console's tests and its pictures are made with. */
export const SHOP_SERVERS = {
  shop: { ...nodeServer(fixture('shop-server.mjs'), 'shop', '12'), labels: ['private'], trusted: true },
  tracker: nodeServer(fixture('shop-server.mjs'), 'tracker', '25'),
  channel: { ...nodeServer(fixture('shop-server.mjs'), 'channel', '18'), labels: ['external'] },
};

/** It answers and describes itself with everything that must stay text. */
export const HOSTILE_SERVER = { hostile: nodeServer(fixture('shop-server.mjs'), 'hostile') };

export async function openBrowser(): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    executablePath: execFileSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' }).trim(),
    headless: true,
    // Only this machine: whatever the page asks for elsewhere fails, and is seen.
    // `rebound.test` is a name whose owner lets it lead to this machine.
    args: [
      ...['--no-sandbox', '--disable-dev-shm-usage'],
      '--host-resolver-rules=MAP rebound.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    ],
  });
}

/** A link to the running host, as a person gets one. */
export async function newLink(home: Home, ...words: string[]): Promise<string> {
  const { stdout, stderr, status } = await runProgram(home, 'console', '--no-open', ...words);
  if (status !== 0) throw new Error(`no link: ${stderr}`);
  return stdout.trim();
}

export interface Person {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Every address that the browser asked for. */
  readonly requests: string[];
  /** What the page complained about: errors, refused scripts and styles. */
  readonly complaints: string[];
}

/** A browser of one's own, logged in by a link. */
export async function logIn(browser: Browser, link: string, options: object = {}): Promise<Person> {
  // What moves is drawn 60 times a second, by the CPU.
  const still = { reducedMotion: 'reduce' } as const;
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...still, ...options });
  const page = await context.newPage();
  // Less than a test has: so it says what it waited for.
  page.setDefaultTimeout(20_000);
  const requests: string[] = [];
  const complaints: string[] = [];
  context.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || /Content Security Policy/i.test(message.text())) complaints.push(message.text());
  });
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(link);
  await page.getByRole('link', { name: 'Inbox', exact: true }).waitFor();
  return { context, page, requests, complaints };
}

export async function visit(page: Page, screen: string): Promise<void> {
  await page.getByRole('link', { name: screen, exact: true }).click();
  await page.getByRole('heading', { level: 1, name: screen }).waitFor();
}

const AXE = fileURLToPath(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url));

/** What axe finds that is serious or critical, one line each: everything in light colours, and the contrast of the dark ones. */
export async function seriousProblems(page: Page): Promise<string[]> {
  // By the debugger, not by a script element: the page's policy forbids one.
  await page.evaluate(readFileSync(AXE, 'utf8'));
  const found = await askAxe(page, {});
  await page.emulateMedia({ colorScheme: 'dark' });
  found.push(...(await askAxe(page, { runOnly: ['color-contrast'] })).map((each) => `dark: ${each}`));
  await page.emulateMedia({ colorScheme: 'light' });
  return found;
}

function askAxe(page: Page, options: object): Promise<string[]> {
  return page.evaluate(async (given) => {
    const { axe } = globalThis as unknown as {
      axe: {
        run: (options: object) => Promise<{
          violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
        }>;
      };
    };
    const { violations } = await axe.run({ resultTypes: ['violations'], ...given });
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) =>
        nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
      );
  }, options);
}
