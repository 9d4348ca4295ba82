// @ts-check
// A Vitest reporter that writes down, for the closing summary of `npm test`, what passed, failed and was skipped, and
// why it was skipped.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { CACHE, ROOT } from './repository.mjs';

/**
 * @typedef {{ title: string, file: string, reason: string | undefined }} SkippedTest
 * @typedef {{ passed: number, failed: number, skipped: SkippedTest[] }} TestReport
 */

/** Where the report of a project's last run is. @param {string} project */
export function reportPath(project) {
  return join(CACHE, 'reports', `${project}.json`);
}

/** @param {string} project @returns {TestReport} */
export function readReport(project) {
  return JSON.parse(readFileSync(reportPath(project), 'utf8'));
}

/**
 * One report out of several, and what is printed of it: the skipped tests, grouped by reason, and one line of totals.
 *
 * @param {readonly TestReport[]} reports
 */
export function summarize(reports) {
  const sum = (count) => reports.reduce((total, report) => total + count(report), 0);
  const skipped = reports.flatMap((report) => report.skipped);
  const totals = `${sum((report) => report.passed)} passed, ${sum((report) => report.failed)} failed, ${skipped.length} skipped`;
  /** @type {Map<string | undefined, SkippedTest[]>} */
  const byReason = new Map();
  for (const test of skipped) byReason.set(test.reason, [...(byReason.get(test.reason) ?? []), test]);
  const list = [...byReason].flatMap(([reason, tests]) => [
    `skipped: ${reason ?? 'NO REASON GIVEN (use needs() of test/support/needs.ts, or context.skip(reason))'}`,
    ...tests.map((test) => `  ${test.file}: ${test.title}`),
  ]);
  return { totals, list, unexplained: skipped.filter((test) => test.reason === undefined).length };
}

/** Vitest wants reporters as default exports. */
export default class TestReportReporter {
  onTestRunEnd(modules, unhandledErrors) {
    /** @type {Map<string, TestReport>} */
    const reports = new Map();
    const reportOf = (project) => {
      const report = reports.get(project) ?? { passed: 0, failed: 0, skipped: [] };
      reports.set(project, report);
      return report;
    };
    for (const module of modules) {
      const report = reportOf(module.project.name);
      // A file that could not be loaded, or whose hooks failed, has no failing test to show for it.
      report.failed += module.errors().length;
      for (const suite of module.children.allSuites()) report.failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === 'passed') report.passed += 1;
        else if (result.state === 'failed') report.failed += 1;
        else {
          const reason = result.note ?? test.meta().skipReason;
          report.skipped.push({ title: test.fullName, file: relative(ROOT, module.moduleId), reason });
        }
      }
    }
    // An error outside any test belongs to no project; it must not get lost.
    const [first] = reports.values();
    if (first !== undefined) first.failed += unhandledErrors.length;

    for (const [project, report] of reports) {
      const path = reportPath(project);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, JSON.stringify(report));
    }
  }
}
