// @ts-check
// `npm test`: prepares the machine, builds, checks, runs every test, and closes with one line of totals.
import { rmSync } from 'node:fs';
import { isMain, runNode } from './repository.mjs';
import { runTests } from './run-tests.mjs';
import { readReport, reportPath, summarize } from './test-report.mjs';

const PROJECTS = ['unit', 'product'];

if (isMain(import.meta.url)) {
  for (const project of PROJECTS) rmSync(reportPath(project), { force: true });
  const failed = await runAll();
  const reports = PROJECTS.flatMap((project) => tryReadReport(project) ?? []);
  const { totals, list, unexplained } = summarize(reports);
  if (unexplained > 0) failed.push('a test was skipped without a reason');
  if (reports.length < PROJECTS.length) failed.push('not all tests were run');

  console.log('');
  for (const line of list) console.log(line);
  for (const name of failed) console.log(`failed: ${name}`);
  console.log(totals);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

/** @returns {Promise<string[]>} what went wrong */
async function runAll() {
  // Preparing the machine is mostly downloads.
  const build = runNode(['scripts/build.mjs'], { quiet: true });
  console.log('\n== system');
  await runNode(['scripts/setup-system.mjs']);
  const built = await build;
  console.log(`\n== build\n${built.output.trimEnd()}`);
  // Nothing below can be believed without a build of these very sources.
  if (!built.ok) return ['build'];
  const failed = [];
  // Product tests start processes and wait for them for a third of their time: the sources are looked at meanwhile.
  const sources = runNode(['scripts/check.mjs', '--sources'], { quiet: true });
  console.log('\n== product tests');
  if (!(await runTests('product'))) failed.push('product tests');
  console.log('\n== unit tests');
  if (!(await runTests('unit'))) failed.push('unit tests');
  const { ok, output } = await sources;
  console.log(`\n== check\n${output.trimEnd()}`);
  if (!ok) failed.push('check');
  return failed;
}

function tryReadReport(project) {
  try {
    return readReport(project);
  } catch {
    return undefined;
  }
}
