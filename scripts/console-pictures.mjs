// @ts-check
// Remakes the pictures of the console in the README: its tests take one of every screen, and two of them are kept. The fonts are those of
// the machine: they were made with Inter and JetBrains Mono (on Debian: fonts-inter, fonts-jetbrains-mono).
import { copyFileSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, runNode, TOOLS } from './repository.mjs';

/** The picture that a test takes, and its name in the documents. */
const KEPT = { 'inbox-small.png': 'console-inbox.png', 'run-small.png': 'console-run.png' };
/** People read the README over slow networks. A run beside its waterfall takes most of it. */
const MAX_BYTES = 150_000;

const words = ['run', '--project', 'product', 'test/console/journeys.browser.test.ts'];
const { ok } = await runNode([TOOLS.vitest, ...words], { env: { CODEMODE_PICTURES: '1' } });
if (ok) {
  mkdirSync(join(ROOT, 'docs/images'), { recursive: true });
  for (const [from, to] of Object.entries(KEPT)) {
    const { size } = statSync(join(ROOT, 'coverage/console', from));
    if (size > MAX_BYTES) throw new Error(`${to} has ${size} bytes, and may have ${MAX_BYTES}`);
    copyFileSync(join(ROOT, 'coverage/console', from), join(ROOT, 'docs/images', to));
  }
} else {
  process.exitCode = 1;
}
