// @ts-check
// The statements of the contracts' documents (test/statements): checked against the tests that they name, and rendered
// for docs/CONFORMANCE.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transform } from 'esbuild';
import ts from 'typescript';
import { listFiles, ROOT } from './repository.mjs';

const FOLDER = 'test/statements';
/** Links that hold in the npm package too, which has no tests. */
const REPOSITORY = 'https://github.com/codemode/codemode/blob/main';

/** @param {string} file @param {number} [line] */
export function addressOf(file, line) {
  return `${REPOSITORY}/${file}${line === undefined ? '' : `#L${line}`}`;
}

/**
 * @typedef {readonly [file: string, title: string]} TestOf
 * @typedef {{ id: string, clause: string, says: string, test?: TestOf | readonly TestOf[], measured?: string, differs?: string, open?: string }} Statement
 * @typedef {{ statement: Statement, file: string }} Found
 */

/** Every statement, in the order of the files. @returns {Promise<Found[]>} */
export async function loadStatements() {
  const found = [];
  for (const file of listFiles(FOLDER, ['.ts'])) {
    const { code } = await transform(readFileSync(join(ROOT, file), 'utf8'), { loader: 'ts', format: 'esm' });
    const exported = await import(`data:text/javascript,${encodeURIComponent(code)}`);
    for (const list of Object.values(exported)) for (const statement of list) found.push({ statement, file });
  }
  return found;
}

/**
 * What is wrong with them: a number out of order, a test that is not there, more than one stand or none.
 *
 * @param {readonly Found[]} statements @param {ReadonlySet<string>} groups @param {(file: string) => ReadonlyMap<string, number> | undefined} titlesOf
 */
export function findStatementProblems(statements, groups, titlesOf) {
  const problems = [];
  const counts = new Map();
  for (const { statement, file } of statements) {
    const { id, says } = statement;
    const complain = (problem) => problems.push(`${file}: ${id}: ${problem}`);
    const group = id.split('.')[0] ?? '';
    const number = (counts.get(group) ?? 0) + 1;
    counts.set(group, number);
    if (!groups.has(group)) complain(`there is no requirement ${group}`);
    if (id !== `${group}.${number}`) complain(`out of order; it should be ${group}.${number}`);
    if (says.length === 0 || says.length > MAX_CHARACTERS)
      complain(`says nothing, or more than ${MAX_CHARACTERS} characters`);
    const stands = ['test', 'measured', 'differs', 'open'].filter((key) => statement[key] !== undefined);
    if (stands.length !== 1) complain('needs one of test, measured, differs and open');
    for (const [path, title] of testsOf(statement)) {
      const titles = titlesOf(fileOf(path));
      if (titles === undefined) complain(`there is no ${fileOf(path)}`);
      else if (!titles.has(title)) complain(`${fileOf(path)} has no test ${JSON.stringify(title)}`);
    }
  }
  return problems;
}

const MAX_CHARACTERS = 200;

/**
 * The titles of the tests and groups in a file, as the source has them, without the ids at their end, each with its line.
 *
 * @param {string} file @param {string} text @returns {Map<string, number>}
 */
export function titlesIn(file, text) {
  const titles = new Map();
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const visit = (node) => {
    if (ts.isCallExpression(node) && CALLS.test(node.expression.getText(source))) {
      const title = titleOf(node.arguments[0], source);
      const plain = title?.replace(IDS_AT_END, '');
      // A title that occurs twice links to its first test.
      if (plain !== undefined && !titles.has(plain)) titles.set(plain, lineOf(node.arguments[0], source));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;
}

function lineOf(node, source) {
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
}

const CALLS = /^(test|it|describe|suite)\b/;
const IDS_AT_END = /(?:\s*\[[A-Z]\d+(?:\s*,\s*[A-Z]\d+)*\])+\s*$/;

function titleOf(node, source) {
  if (node === undefined) return undefined;
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  return ts.isTemplateExpression(node) ? node.getText(source).slice(1, -1) : undefined;
}

/** @param {Statement} statement @returns {readonly TestOf[]} */
export function testsOf({ test }) {
  if (test === undefined) return [];
  return /** @type {readonly TestOf[]} */ (typeof test[0] === 'string' ? [test] : test);
}

/** Below `test/`, unless it begins with `src/`. */
export function fileOf(path) {
  return path.startsWith('src/') ? path : `test/${path}`;
}

/**
 * How we stand to one, for the table, with a link to the line of each test.
 *
 * @param {Statement} statement @param {(file: string) => ReadonlyMap<string, number> | undefined} titlesOf
 */
export function standOf(statement, titlesOf) {
  if (statement.measured !== undefined) return `measured: ${statement.measured}`;
  if (statement.differs !== undefined) return `differs: ${statement.differs}`;
  if (statement.open !== undefined) return `open: ${statement.open}`;
  return testsOf(statement)
    .map(([path, title]) => {
      const line = titlesOf(fileOf(path))?.get(title);
      return `[${title.replace(/[[\]]/g, '\\$&')}](${addressOf(fileOf(path), line)})`;
    })
    .join('<br>');
}
