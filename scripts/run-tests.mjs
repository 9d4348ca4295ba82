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
 * @param {string} project @param {Parameters<typeof runNode>[1]} options
 * @returns {Promise<{ ok: boolean, output: string }>} `ok`: every test passed, the first time or alone
 */
export async function runTests(project, options = {}) {
  rmSync(reportPath(project), { force: true });
  const { ok, output } = await runNode([TOOLS.vitest, 'run', '--project', project], options);
  if (ok || !existsSync(reportPath(project))) return { ok, output };
  const first = readReport(project);
  const files = failedFiles(first);
  if (!isWorthASecondRun(files)) return { ok, output };

  const title = `\n== once more, alone: ${files.join(', ')}`;
  if (options.quiet !== true) console.log(title);
  const words = ['run', '--project', project, '--no-file-parallelism', ...files];
  const alone = await runNode([TOOLS.vitest, ...words], options);
  const report = mergeSecondRun(first, readReport(project));
  writeReport(project, report);
  return { ok: alone.ok && failedFiles(report).length === 0, output: `${output}${title}\n${alone.output}` };
}

/** @param {readonly string[]} files */
export function isWorthASecondRun(files) {
  return files.length > 0 && files.length <= MAX_SECOND_RUNS && files.every((file) => existsSync(join(ROOT, file)));
}
