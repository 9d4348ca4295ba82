import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Of a test that opens a host without saying where: nothing of the user's is read or written. */
const STATE = mkdtempSync(join(tmpdir(), 'codemode-tests-'));

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
          name: 'product',
          env: { CODEMODE_HOME: STATE, CODEMODE_KEYRING: 'file' },
          include: ['test/**/*.test.ts'],
          // These start whole process trees, and wait for them half of the time: on two cores three take a quarter less than two.
          maxWorkers: 3,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
