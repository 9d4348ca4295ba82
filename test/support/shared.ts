import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestOptions } from 'vitest';
import { skipped } from './needs.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The folder of reference material beside the repository. A clone has none: `CODEMODE_SHARED` names another place. */
export function sharedPath(...parts: string[]): string {
  return join(process.env.CODEMODE_SHARED ?? join(ROOT, '..', 'shared'), ...parts);
}

/** Options for a test that reads reference material: skipped, with the reason, where it is not there. */
export function needsShared(...parts: string[]): TestOptions {
  const path = sharedPath(...parts);
  return existsSync(path)
    ? {}
    : skipped(`${parts.join('/')} of the reference material is not here; set CODEMODE_SHARED to its folder`);
}
