import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    reporters: ['default', './scripts/test-report.mjs'],
    projects: [
      {
        // The lowest Node we run on: newer syntax (`await using`) is compiled away.
        oxc: { target: 'node20' },
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'scripts/**/*.test.mjs'],
          // For tests that hang. The longest takes 2 s alone, and five times that on a machine that does other work too.
          testTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        oxc: { target: 'node20' },
        test: {
          name: 'product',
          include: ['test/**/*.test.ts'],
          // These start whole process trees: more at a time only makes each slower.
          maxWorkers: 2,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
