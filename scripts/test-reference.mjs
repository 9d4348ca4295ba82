// @ts-check
// `npm run test:reference`: the tests over the corpus and the contracts' examples once more, over the reference material
// that CODEMODE_SHARED names. With --after-npm-test the closing line counts the tests of `npm test` too.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isMain } from './repository.mjs';
import { runTests } from './run-tests.mjs';
import { readReport, reportPath, summarize } from './test-report.mjs';

const PROJECT = 'reference';
/** What the tests read of it. */
const PARTS = ['corpus/toolsets', 'seeds'];

if (isMain(import.meta.url)) {
  const folder = process.env.CODEMODE_SHARED;
  const problem = problemWith(folder);
  if (folder === undefined || problem !== undefined) {
    console.error(problem);
    process.exitCode = 2;
  } else {
    const isLast = process.argv.includes('--after-npm-test');
    process.exitCode = (await runReference(resolve(folder), isLast ? ['unit', 'product'] : [])) ? 0 : 1;
  }
}

/** @param {string | undefined} folder @returns {string | undefined} what to do about it, or nothing */
export function problemWith(folder) {
  if (!folder) return 'CODEMODE_SHARED is not set. Set it to the folder of the reference material.';
  const missing = PARTS.find((part) => !existsSync(join(folder, part)));
  return missing && `${folder} has no ${missing}. Set CODEMODE_SHARED to the folder of the reference material.`;
}

/** @param {string} folder @param {readonly string[]} before projects that have run and are counted too */
async function runReference(folder, before) {
  console.log(`\n== reference material in ${folder}`);
  const { ok } = await runTests(PROJECT, { env: { CODEMODE_SHARED: folder } });
  const wanted = [...before, PROJECT];
  const reports = wanted.filter((project) => existsSync(reportPath(project))).map(readReport);
  const { list, unexplained } = summarize(reports.slice(-1));
  const failed = [
    ...(ok ? [] : ['tests over the reference material']),
    ...(unexplained > 0 ? ['a test was skipped without a reason'] : []),
    ...(reports.length < wanted.length ? ['not all tests were run'] : []),
  ];
  console.log('');
  for (const line of [...list, ...failed.map((name) => `failed: ${name}`)]) console.log(line);
  console.log(summarize(reports).totals);
  return failed.length === 0;
}
