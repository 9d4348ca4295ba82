// @ts-check
// Runs the tests of one Vitest project. Product tests start process trees and share two cores: on a loaded machine one of
// thousands runs out of time. Files that failed run once more, alone; see docs/decisions/0070-a-second-run-alone.md.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, runNode, TOOLS } from './repository.mjs';
import { failedFiles, mergeSecondRun, readReport, reportPath, writeReport } from './test-report.mjs';

/** With more failed files than this it is not the load. */
export const MAX_SECOND_RUNS = 20;

/**
 * @param {string} project @param {Record<string, string>} env
 * @returns {Promise<boolean>} whether every test passed, the first time or alone
 */
export async function runTests(project, env = {}) {
  rmSync(reportPath(project), { force: true });
  const { ok } = await runNode([TOOLS.vitest, 'run', '--project', project], { env });
  if (ok || !existsSync(reportPath(project))) return ok;
  const first = readReport(project);
  const files = failedFiles(first);
  if (!isWorthASecondRun(files)) return false;

  console.log(`\n== once more, alone: ${files.join(', ')}`);
  const alone = await runNode([TOOLS.vitest, 'run', '--project', project, '--no-file-parallelism', ...files], { env });
  const report = mergeSecondRun(first, readReport(project));
  writeReport(project, report);
  return alone.ok && failedFiles(report).length === 0;
}

/** @param {readonly string[]} files */
export function isWorthASecondRun(files) {
  return files.length > 0 && files.length <= MAX_SECOND_RUNS && files.every((file) => existsSync(join(ROOT, file)));
}
