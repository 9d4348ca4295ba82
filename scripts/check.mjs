// @ts-check
// Everything that can be said about the sources without building the product. Prints one line per gate. `--sources`
// leaves the unit tests out.
import { rmSync } from 'node:fs';
import { isMain, runNode, runSteps, TOOLS } from './repository.mjs';
import { reportPath } from './test-report.mjs';

const quiet = { quiet: true };

/** Each on one core, so that two of them are run at once. The longest is first. */
const SOURCE_GATES = [
  { name: 'types of every unit, promises and switches', run: () => runNode(['scripts/check-types.mjs'], quiet) },
  {
    name: 'format and lint',
    run: () => runNode([TOOLS.biome, 'check', '--error-on-warnings', '--max-diagnostics=50', '.'], quiet),
  },
  { name: 'layers', run: () => runNode(['scripts/check-layers.mjs'], quiet) },
  { name: 'entry points', run: () => runNode(['scripts/check-entry-points.mjs'], quiet) },
  { name: 'words', run: () => runNode(['scripts/check-words.mjs'], quiet) },
  { name: 'links', run: () => runNode(['scripts/check-links.mjs'], quiet) },
  { name: 'lockfile', run: () => runNode(['scripts/check-lockfile.mjs'], quiet) },
  { name: 'conformance table', run: () => runNode(['scripts/conformance.mjs', '--check'], quiet) },
];

if (isMain(import.meta.url)) {
  const units = process.argv.includes('--sources') ? [] : [{ name: 'unit tests', run: runUnitTests }];
  const failed = await runSteps([...SOURCE_GATES, ...units], 2);
  if (failed.length > 0) console.log(`\nfailed: ${failed.join(', ')}`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

function runUnitTests() {
  rmSync(reportPath('unit'), { force: true });
  return runNode([TOOLS.vitest, 'run', '--project', 'unit'], quiet);
}
