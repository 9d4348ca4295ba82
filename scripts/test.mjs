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
  // Product tests start processes and wait for them for a third of their time: the rest of the work is done meanwhile.
  const beside = runBeside();
  console.log('\n== product tests');
  if (!(await runTests('product')).ok) failed.push('product tests');
  for (const { name, ok, output } of await beside) {
    console.log(`\n== ${name}\n${output.trimEnd()}`);
    if (!ok) failed.push(name);
  }
  return failed;
}

/** What needs no build, with the time that the product tests leave of the cores. */
async function runBeside() {
  const options = { quiet: true, isBeside: true };
  const check = await runNode(['scripts/check.mjs', '--sources'], options);
  const units = await runTests('unit', options);
  return [
    { name: 'check', ...check },
    { name: 'unit tests', ...units },
  ];
}

function tryReadReport(project) {
  try {
    return readReport(project);
  } catch {
    return undefined;
  }
}
