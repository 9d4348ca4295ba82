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
  console.log('\n== system');
  // Preparing the machine is mostly downloads.
  const system = runNode(['scripts/setup-system.mjs']);
  const built = await runNode(['scripts/build.mjs'], { quiet: true });
  const beside = built.ok ? runBeside(system) : [];
  await system;
  console.log(`\n== build\n${built.output.trimEnd()}`);
  // Nothing below can be believed without a build of these very sources.
  if (!built.ok) return ['build'];
  const failed = [];
  console.log('\n== product tests');
  if (!(await runTests('product')).ok) failed.push('product tests');
  for (const { name, ok, output } of await beside) {
    console.log(`\n== ${name}\n${output.trimEnd()}`);
    if (!ok) failed.push(name);
  }
  return failed;
}

/**
 * The rest of the work, in the time that product tests leave of the cores: they start processes and wait for them for a third of theirs.
 *
 * @param {Promise<unknown>} system settled when the machine has what tests need
 */
async function runBeside(system) {
  const options = { quiet: true, isBeside: true };
  const check = await runNode(['scripts/check.mjs', '--sources'], options);
  await system;
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
