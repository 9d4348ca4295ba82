import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';

/** Tests that run over the corpus or a contract's examples: over the repository's own, and once more over the reference material. */
const OVER_MATERIAL = ['test/corpus/**/*.test.ts', 'test/prompt/budgets.test.ts', 'test/e2e/runner-document.test.ts'];
/** Tests that are about the reference material alone. */
const REFERENCE_ONLY = ['test/reference/**/*.test.ts'];

/** Of a test that opens a host without saying where: nothing of the user's is read or written. */
const STATE = mkdtempSync(join(tmpdir(), 'codemode-tests-'));

const product = {
  env: { CODEMODE_HOME: STATE, CODEMODE_KEYRING: 'file' },
  // These start whole process trees, and wait for them more than half of the time: four at once keep two cores busy.
  maxWorkers: 4,
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

/** The reference material is no part of a clone: where nobody names its folder, there is no such project. */
const reference = {
  oxc: { target: 'node20' },
  test: {
    ...product,
    name: 'reference',
    env: { ...product.env, CODEMODE_TEST_MATERIAL: 'reference' },
    include: [...OVER_MATERIAL, ...REFERENCE_ONLY],
    // These are about the corpus of our own.
    exclude: [...configDefaults.exclude, 'test/corpus/own/**'],
    // Three times as many tools.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    sequence: { groupOrder: 2 },
  },
};

export default defineConfig({
  test: {
    reporters: ['default', './scripts/test-report.mjs'],
    projects: [
      {
        // The lowest Node we run on: newer syntax (`await using`) is compiled away.
        oxc: { target: 'node20' },
        test: {
          name: 'unit',
          // Some compile thousands of cases in an interpreter; on a loaded machine that takes its time.
          testTimeout: 60_000,
          include: ['src/**/*.test.ts', 'scripts/**/*.test.mjs'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        oxc: { target: 'node20' },
        test: {
          ...product,
          name: 'product',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...REFERENCE_ONLY],
          sequence: { groupOrder: 1 },
        },
      },
      ...(process.env.CODEMODE_SHARED ? [reference] : []),
    ],
  },
});
