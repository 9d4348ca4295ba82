// @ts-check
// A Vitest reporter that writes down, for the closing summary of `npm test`, what passed, failed and was skipped in each
// file, why it was skipped, and when the file ran: what is idle at the end shows in these times (LONGEST in vitest.config.ts).
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { CACHE, ROOT } from './repository.mjs';

/**
 * @typedef {{ title: string, reason?: string | undefined }} SkippedTest
 * @typedef {{ passed: number, failed: string[], skipped: SkippedTest[], startSeconds?: number, endSeconds?: number }} FileReport
 * @typedef {{ files: Record<string, FileReport>, flaky?: string[] }} TestReport
 */

/** Where errors go that belong to no file. */
const NO_FILE = 'outside of any test file';

/** Where the report of a project's last run is. @param {string} project */
export function reportPath(project) {
  return join(CACHE, 'reports', `${project}.json`);
}

/** @param {string} project @returns {TestReport} */
export function readReport(project) {
  return JSON.parse(readFileSync(reportPath(project), 'utf8'));
}

/** @param {string} project @param {TestReport} report */
export function writeReport(project, report) {
  const path = reportPath(project);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(report));
}

/** @param {TestReport} report @returns {string[]} */
export function failedFiles({ files }) {
  return Object.keys(files).filter((file) => (files[file]?.failed.length ?? 0) > 0);
}

/**
 * What holds after some files ran a second time, alone. A test that failed only the first time is flaky: it counts as passed
 * and is named, so that somebody repairs it.
 *
 * @param {TestReport} first @param {TestReport} second @returns {TestReport}
 */
export function mergeSecondRun(first, second) {
  const flaky = Object.keys(second.files).flatMap((file) => {
    const stillFailed = second.files[file]?.failed ?? [];
    const titles = first.files[file]?.failed ?? [];
    return titles.filter((title) => !stillFailed.includes(title)).map((title) => `${file}: ${title}`);
  });
  return { files: { ...first.files, ...second.files }, flaky };
}

/**
 * One report out of several, and what is printed of it: flaky tests, the skipped ones by their reason, and one line of totals.
 *
 * @param {readonly TestReport[]} reports
 */
export function summarize(reports) {
  const files = reports.flatMap((report) => Object.entries(report.files));
  /** @param {(report: FileReport) => number} count */
  const sum = (count) => files.reduce((total, [, report]) => total + count(report), 0);
  const skipped = files.flatMap(([file, report]) => report.skipped.map((test) => ({ ...test, file })));
  const totals = `${sum(({ passed }) => passed)} passed, ${sum(({ failed }) => failed.length)} failed, ${skipped.length} skipped`;
  /** @type {Map<string | undefined, string[]>} */
  const byReason = new Map();
  for (const { file, title, reason } of skipped) {
    byReason.set(reason, [...(byReason.get(reason) ?? []), `  ${file}: ${title}`]);
  }
  const flaky = reports.flatMap((report) => report.flaky ?? []);
  const list = [
    ...(flaky.length === 0
      ? []
      : ['flaky: failed beside other tests, passed alone', ...flaky.map((test) => `  ${test}`)]),
    ...[...byReason].flatMap(([reason, tests]) => [
      `skipped: ${reason ?? 'NO REASON GIVEN (use needs() of test/support/needs.ts, or context.skip(reason))'}`,
      ...tests,
    ]),
  ];
  return { totals, list, unexplained: skipped.filter((test) => test.reason === undefined).length };
}

/** Vitest wants reporters as default exports. */
export default class TestReportReporter {
  #started = performance.now();
  /** @type {Map<string, { startSeconds?: number, endSeconds?: number }>} by module id */
  #times = new Map();

  onTestModuleQueued(module) {
    this.#times.set(module.id, { startSeconds: this.#seconds() });
  }

  onTestModuleEnd(module) {
    this.#times.set(module.id, { ...this.#times.get(module.id), endSeconds: this.#seconds() });
  }

  #seconds() {
    return Math.round((performance.now() - this.#started) / 100) / 10;
  }

  onTestRunEnd(modules, unhandledErrors) {
    /** @type {Map<string, TestReport>} */
    const reports = new Map();
    for (const module of modules) {
      const { name } = module.project;
      const report = reports.get(name) ?? { files: {} };
      reports.set(name, report);
      report.files[relative(ROOT, module.moduleId)] = { ...reportOf(module), ...this.#times.get(module.id) };
    }
    // An error outside any test must not get lost. It belongs to the file that ran when it came.
    const [first] = reports.values();
    for (const error of unhandledErrors) {
      if (first === undefined) break;
      const file = error.VITEST_TEST_PATH === undefined ? NO_FILE : relative(ROOT, error.VITEST_TEST_PATH);
      const report = [...reports.values()].find(({ files }) => file in files) ?? first;
      report.files[file] ??= { passed: 0, failed: [], skipped: [] };
      report.files[file].failed.push(`unhandled error: ${error.message}`);
    }
    for (const [project, report] of reports) writeReport(project, report);
  }
}

/** @returns {FileReport} */
function reportOf(module) {
  /** @type {FileReport} */
  const report = { passed: 0, failed: [], skipped: [] };
  // A file that could not be loaded, or whose hooks failed, has no failing test to show for it.
  for (const error of module.errors()) report.failed.push(error.message);
  for (const suite of module.children.allSuites()) {
    for (const error of suite.errors()) report.failed.push(`${suite.fullName}: ${error.message}`);
  }
  for (const test of module.children.allTests()) {
    const result = test.result();
    if (result.state === 'passed') report.passed += 1;
    else if (result.state === 'failed') report.failed.push(test.fullName);
    else report.skipped.push({ title: test.fullName, reason: result.note ?? test.meta().skipReason });
  }
  return report;
}
