import { mkdtempSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests that run over the corpus or a contract's examples: over the repository's own, and once more over the reference material. */
const OVER_MATERIAL = ['test/corpus/**/*.test.ts', 'test/prompt/budgets.test.ts', 'test/e2e/runner/document.test.ts'];
/** Tests that are about the reference material alone. */
const REFERENCE_ONLY = ['test/reference/**/*.test.ts'];

/** Those that take longest, much of it waiting: begun first, so that no core is idle while the last file waits. */
const LONGEST = [
  'install/install',
  'sandbox/go-packages',
  'e2e/mcp/conformance',
  'console/scale.browser',
  'install/first-contact',
  'e2e/scripts/kept-programs',
  'cluster/faults',
  'conformance/code-execution/long-call',
  'e2e/mcp/waiting-for-servers',
  'attacks/approvals',
  'e2e/runs/approvals',
  'e2e/runner/approvals',
  'attacks/foreign-text',
  'e2e/scripts/code-exec',
  'e2e/cli/lists',
  'attacks/approval-reach',
  'cluster/requests',
  'e2e/cli/auth',
  'console/journeys.browser',
  'e2e/cli/install',
  'attacks/stream-floods',
  'e2e/runner/contract',
  'e2e/runs/durability',
  'attacks/trust',
  'e2e/cli/run-command',
  'e2e/mcp/approvals',
  'e2e/runs/policy',
  'e2e/runner/replay',
  'sandbox/engines',
  'e2e/cli/examples',
  'e2e/runner/rules',
  'e2e/cli/init',
  'e2e/runs/kill-points',
  'e2e/mcp/notes',
  'cluster/storm',
  'e2e/cli/old-node',
  'e2e/cli/runs-wait',
  'e2e/runs/go-profile',
  'e2e/mcp/questions',
  'attacks/init',
  'e2e/cli/pipes',
  'attacks/server-floods',
  'e2e/cli/replay',
  'e2e/mcp/many-servers',
  'e2e/cli/check',
  'e2e/cli/add',
  'attacks/questions',
  'e2e/mcp/stdio',
  'conformance/codemode/declarations-on-demand',
  'e2e/cli/audit-decisions',
  'e2e/runner/broker',
  'e2e/cli/measure',
  'e2e/cli/tools',
  'attacks/hostile-worker',
  'e2e/mcp/asks',
  'e2e/mcp/tool-names',
  'e2e/cli/audit',
  'attacks/approved-as-shown',
  'e2e/runner/document',
  'upstream/everyday',
  'e2e/cli/completion',
  'conformance/runner/fine-print',
  'attacks/token-reach',
  'cluster/guide',
  'e2e/mcp/cancellation',
  'attacks/runner-limits',
  'cluster/drain',
  'e2e/scripts/scripts',
  'e2e/cli/config-discovery',
  'e2e/cli/disabled-servers',
  'e2e/mcp/first-listing',
  // Short on the cores, long by the clock.
  'fuzz/fuzz',
  'upstream/slow-start',
  'e2e/mcp/progress',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return place === -1 ? LONGEST.length : place;
    };
    return (await super.sort(files)).sort((left, right) => placeOf(left) - placeOf(right));
  }
}

/** Of a test that opens a host without saying where: nothing of the user's is read or written. */
const STATE = mkdtempSync(join(tmpdir(), 'codemode-tests-'));

/**
 * Certificates that Node reads at each start that inherits this variable: 45 ms of a core, in thousands of starts. Only what asks the
 * npm registry needs them (`test/support/registry.ts`).
 */
const { NODE_EXTRA_CA_CERTS: certificates = '' } = process.env;
delete process.env.NODE_EXTRA_CA_CERTS;

const product = {
  // Loading the modules again for each of 240 files took a second of a core each.
  isolate: false,
  env: { CODEMODE_HOME: STATE, CODEMODE_KEYRING: 'file', CODEMODE_TEST_CERTIFICATES: certificates },
  // These start whole process trees, and wait for them more than half of the time. Eleven at once take as long as eight, and more of
  // them run out of time.
  maxWorkers: 8,
  // Tests that wait for a timeout wait side by side.
  maxConcurrency: 8,
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // What is waited for happens in another process; a second is not enough on a loaded machine.
  expect: { poll: { timeout: 20_000 } },
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
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        // The lowest Node we run on: newer syntax (`await using`) is compiled away.
        oxc: { target: 'node20' },
        test: {
          name: 'unit',
          // The files of a worker share the modules that they import: none of them keeps anything that changes.
          isolate: false,
          // One fewer than there are cores, unless told: on two cores one of them would be idle.
          maxWorkers: Math.max(2, availableParallelism()),
          // Some compile thousands of cases in an interpreter; on a loaded machine that takes its time.
          testTimeout: 300_000,
          hookTimeout: 300_000,
          include: ['src/**/*.test.ts', 'scripts/**/*.test.mjs'],
          setupFiles: ['test/support/changed-libraries.ts'],
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
