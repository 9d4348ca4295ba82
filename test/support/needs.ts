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

/** Something about the machine that no package brings. */
export interface Requirement {
  readonly isMet: boolean;
  readonly reason: string;
}

export const ROOT: Requirement = {
  isMet: process.getuid?.() === 0,
  reason: 'only root can do this; run npm test as root',
};
export const X64: Requirement = { isMet: process.arch === 'x64', reason: 'the machine code of this test is for x64' };

/** Options for a test that needs what no package brings. */
export function requires(...requirements: readonly Requirement[]): TestOptions {
  const unmet = requirements.find(({ isMet }) => !isMet);
  return unmet === undefined ? {} : skipped(unmet.reason);
}

/** Options for a test that cannot run, with the reason. */
export function skipped(reason: string): TestOptions {
  return { skip: true, meta: { skipReason: reason } };
}
