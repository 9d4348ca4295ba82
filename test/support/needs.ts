import type { TestOptions } from 'vitest';
import { checkNeed, type NeedName } from '../../scripts/system-needs.mjs';

declare module 'vitest' {
  interface TaskMeta {
    /** Why a test was skipped; the closing summary of `npm test` prints it, and fails where it is missing. */
    skipReason?: string;
  }
}

/**
 * Options for a test, or a group of tests, that needs something from the machine. Where it is missing, the test is
 * skipped, and says what to install.
 *
 *     test('a jailed program sees no network [A13]', needs('bubblewrap'), async () => { ... });
 */
export function needs(...names: NeedName[]): TestOptions {
  for (const name of names) {
    const check = checkNeed(name);
    if (!check.isMet) return skipped(check.reason);
  }
  return {};
}

/** Options for a test that cannot run, with the reason. */
export function skipped(reason: string): TestOptions {
  return { skip: true, meta: { skipReason: reason } };
}
