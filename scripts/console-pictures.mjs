// @ts-check
// Remakes the pictures of the console in the README: its tests take one of every screen, and two of them are kept.
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, runNode, TOOLS } from './repository.mjs';

/** The picture that a test takes, and its name in the documents. */
const KEPT = { 'inbox-light.png': 'console-inbox.png', 'run-light.png': 'console-run.png' };

const { ok } = await runNode([TOOLS.vitest, 'run', '--project', 'product', 'test/console/journeys.browser.test.ts']);
if (ok) {
  mkdirSync(join(ROOT, 'docs/images'), { recursive: true });
  for (const [from, to] of Object.entries(KEPT)) {
    copyFileSync(join(ROOT, 'coverage/console', from), join(ROOT, 'docs/images', to));
  }
} else {
  process.exitCode = 1;
}
