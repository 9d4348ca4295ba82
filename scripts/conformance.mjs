// @ts-check
// Ties tests to requirements: reads the ids at the end of test titles, refuses unknown ones, and writes
// docs/CONFORMANCE.md. With --check it fails when the file is out of date; where only the lines of tests have moved, it
// writes them and passes, so that an edit of a test file does not fail the check.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transform } from 'esbuild';
import ts from 'typescript';
import { isMain, listFiles, ROOT } from './repository.mjs';
import { addressOf, findStatementProblems, loadStatements, standOf, titlesIn } from './statements.mjs';

const OUTPUT = 'docs/CONFORMANCE.md';
const README = 'README.md';

/** What is between these lines is written by people and kept. */
const DEVIATIONS_BEGIN = '<!-- deviations: written by hand from here -->';
const DEVIATIONS_END = '<!-- deviations: to here -->';

/** `[A3]`, `[A3, A14]` at the very end of a title. */
const IDS_AT_END = /\[([A-Z]\d+(?:\s*,\s*[A-Z]\d+)*)\]\s*$/;

/** The same in the middle of a title, without a comma, in lower case: a slip that must not go unnoticed. */
const LIKE_A_CITATION = /\[[A-EX]\d+\b[^\]]*\]/i;

/** Calls that make a test or a group. `.skip` and `.todo` prove nothing, so they do not count. */
const TEST_CALLS = ['test', 'it', 'describe', 'suite'];
const NOT_RUN = ['skip', 'todo'];

if (isMain(import.meta.url)) {
  const { CONTRACTS, UNPROVEN } = await loadRequirements();
  const titlesOf = readTitles();
  const citations = listFiles('test', ['.test.ts']).flatMap((file) => findCitations(file, readText(file)));
  const found = await loadStatements();
  const problems = [
    ...findProblems(CONTRACTS, UNPROVEN, citations),
    ...findStatementProblems(found, new Set(idsIn(CONTRACTS)), titlesOf),
  ];
  const statements = found.map(({ statement }) => statement);
  const present = readText(OUTPUT);
  const wanted = render({ contracts: CONTRACTS, unproven: UNPROVEN, citations, statements, titlesOf }, present);
  if (problems.length === 0 && wanted !== present) {
    const isMoved = withoutLines(wanted) === withoutLines(present);
    if (process.argv.includes('--check') && !isMoved)
      problems.push(`${OUTPUT} is out of date; type: npm run conformance`);
    else write(wanted);
  }
  const readme = readText(README);
  const quoting = quoteTotals(readme, statements);
  if (quoting !== readme) {
    if (process.argv.includes('--check')) problems.push(`${README} quotes other totals; type: npm run conformance`);
    else writeFileSync(join(ROOT, README), quoting);
  }
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

/** The totals where the README quotes them. @param {string} readme @param {readonly import('./statements.mjs').Statement[]} statements */
export function quoteTotals(readme, statements) {
  const tested = statements.filter(({ test }) => test !== undefined).length;
  const [some, all] = [tested, statements.length].map((count) => count.toLocaleString('en'));
  return readme.replace(/\[[\d,]+ of [\d,]+\]\(docs\/CONFORMANCE\.md\)/, `[${some} of ${all}](docs/CONFORMANCE.md)`);
}

/** @param {string} text */
function withoutLines(text) {
  return text.replace(/#L\d+\)/g, ')');
}

/**
 * @typedef {{ id: string, file: string, line: number }} Citation
 * @typedef {Readonly<Record<string, { document: string, profile?: string, requirements: Readonly<Record<string, string>> }>>} Contracts
 */

/**
 * The ids that the titles of a test file end with. The file is parsed, not searched: a title in a comment or in the
 * text of a program under test proves nothing.
 *
 * @param {string} file @param {string} text @returns {Citation[]}
 */
export function findCitations(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const citations = [];
  const visit = (node, isRun) => {
    const names = ts.isCallExpression(node) ? calledNames(node.expression) : [];
    const isTest = TEST_CALLS.includes(names[0] ?? '');
    const counts = isRun && !(isTest && names.some((name) => NOT_RUN.includes(name)));
    if (isTest && counts) {
      const title = node.arguments[0];
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      for (const id of idsOf(title)) citations.push({ id, file, line: line + 1 });
    }
    ts.forEachChild(node, (child) => visit(child, counts));
  };
  visit(source, true);
  return citations;
}

/** `test.skipIf(x)` and `describe.each(rows)` as ['test', 'skipIf'] and ['describe', 'each']. */
function calledNames(expression) {
  if (ts.isIdentifier(expression)) return [expression.text];
  if (ts.isPropertyAccessExpression(expression)) return [...calledNames(expression.expression), expression.name.text];
  if (ts.isCallExpression(expression)) return calledNames(expression.expression);
  if (ts.isTaggedTemplateExpression(expression)) return calledNames(expression.tag);
  return [];
}

function idsOf(title) {
  const text = title && ts.isTemplateExpression(title) ? title.templateSpans.at(-1)?.literal.text : title?.text;
  if (typeof text !== 'string') return [];
  const ids = IDS_AT_END.exec(text)?.[1];
  if (ids !== undefined) return ids.split(',').map((id) => id.trim());
  // Meant as a citation but written wrongly: passed on as it stands, so that it is refused as unknown.
  return LIKE_A_CITATION.exec(text) ?? [];
}

/**
 * What makes the table wrong: an id that does not exist, or stands under the wrong contract.
 *
 * @param {Contracts} contracts @param {Readonly<Record<string, string>>} unproven @param {readonly Citation[]} citations
 */
export function findProblems(contracts, unproven, citations) {
  const known = new Set(Object.values(contracts).flatMap(({ requirements }) => Object.keys(requirements)));
  return [
    ...Object.entries(contracts).flatMap(([letter, { requirements }]) =>
      Object.keys(requirements)
        .filter((id, index) => id !== `${letter}${index + 1}`)
        .map((id) => `test/requirements.ts: ${id} is out of order under ${letter}`),
    ),
    ...Object.keys(unproven)
      .filter((id) => !known.has(id))
      .map((id) => `test/requirements.ts: there is no requirement ${id} to be unproven`),
    ...citations
      .filter(({ id }) => !known.has(id))
      .map(({ id, file, line }) => `${file}:${line}: there is no requirement ${id}`),
  ];
}

function idsIn(contracts) {
  return Object.values(contracts).flatMap(({ requirements }) => Object.keys(requirements));
}

/** Titles by file, each file parsed once. */
function readTitles() {
  const known = new Map();
  return (file) => {
    const text = readText(file);
    if (!known.has(file)) known.set(file, text === '' ? undefined : titlesIn(file, text));
    return known.get(file);
  };
}

/**
 * The whole file, with the hand-written part of `present`: each requirement, and below it the statements of the document
 * that it sums up.
 *
 * @param {{ contracts: Contracts, unproven: Readonly<Record<string, string>>, citations: readonly Citation[],
 *   statements: readonly import('./statements.mjs').Statement[],
 *   titlesOf?: (file: string) => ReadonlyMap<string, number> | undefined }} table
 * @param {string} present
 */
export function render({ contracts, unproven, citations, statements, titlesOf = () => undefined }, present) {
  const placesOf = (id) => citations.filter((citation) => citation.id === id);
  const state = (id) => {
    const places = placesOf(id);
    if (places.length === 0) return 'open';
    const files = [...new Set(places.map(({ file }) => file))];
    const links = files.map((file) => linksOf(file, places)).join('<br>');
    return unproven[id] === undefined ? links : `${links}<br>not yet: ${unproven[id]}`;
  };
  const sections = Object.entries(contracts).map(([letter, { document, profile, requirements }]) =>
    [
      `## ${letter}: ${document}${profile === undefined ? '' : ` (profile \`${profile}\`)`}`,
      '',
      '| id | clause | behaviour | proof |',
      '|---|---|---|---|',
      ...Object.entries(requirements).flatMap(([id, behaviour]) => [
        `| ${anchor(id)}**${id}** | | **${cell(behaviour)}** | ${state(id)} |`,
        ...statements
          .filter((each) => each.id.startsWith(`${id}.`))
          .map((statement) => statementRow(statement, letter, titlesOf)),
      ]),
      '',
    ].join('\n'),
  );
  const ids = idsIn(contracts);
  const count = (key) => statements.filter((each) => each[key] !== undefined).length;
  const cited = ids.filter((id) => placesOf(id).length > 0);
  return [
    '# Conformance',
    '',
    '<!-- Generated by `npm run conformance` from test/requirements.ts and the titles of the tests. Edit those. -->',
    '',
    `${cited.length} of ${ids.length} requirements have a test that goes through the real path and names them.`,
    `Of the ${statements.length} statements that the documents make, ${count('test')} have a test of their own, ${count('measured')} are`,
    `figures that a command measures, ${count('differs')} differ on purpose and ${count('open')} are open: no test claims them, whatever the code may do.`,
    '',
    'The documents are not part of this repository. A clause is named by the letter of the document and the number or',
    'heading of the section, as in `A § 3.2`. Each row has an anchor, such as `#a3.1`, and each proof links to the line of the test.',
    '',
    ...documentTable(contracts, statements),
    '',
    ...sections,
    '## Documented deviations',
    '',
    DEVIATIONS_BEGIN,
    handWritten(present),
    DEVIATIONS_END,
    '',
  ].join('\n');
}

function handWritten(present) {
  const begin = present.indexOf(DEVIATIONS_BEGIN);
  const end = present.indexOf(DEVIATIONS_END);
  if (begin === -1 || end === -1) return '\nNone yet.\n';
  return present.slice(begin + DEVIATIONS_BEGIN.length + 1, end - 1);
}

/** The tests of one file: its name is the link to the first, numbers are those to the others. */
function linksOf(file, places) {
  const [first, ...more] = places.filter((each) => each.file === file).map(({ line }) => addressOf(file, line));
  const others = more.map((link, index) => `[${index + 2}](${link})`);
  return [`[${file.replace(/^test\//, '')}](${first})`, ...others].join(' ');
}

function documentTable(contracts, statements) {
  const rows = Object.entries(contracts).map(([letter, { document, profile, requirements }]) => {
    const count = statements.filter(({ id }) => id.startsWith(letter)).length;
    const first = Object.keys(requirements)[0] ?? '';
    const shownProfile = profile === undefined ? 'all' : `\`${profile}\``;
    return `| ${letter} | [${document}](#${first.toLowerCase()}) | ${shownProfile} | ${Object.keys(requirements).length} | ${count} |`;
  });
  return ['| | document | profile | requirements | statements |', '|---|---|---|---|---|', ...rows];
}

function anchor(id) {
  return `<a id="${id.toLowerCase()}"></a>`;
}

function statementRow(statement, letter, titlesOf) {
  const { id, clause, says } = statement;
  const cells = [cell(`${letter} § ${clause}`), cell(says), cell(standOf(statement, titlesOf))];
  return `| ${anchor(id)}${id} | ${cells.join(' | ')} |`;
}

function cell(text) {
  return text.replaceAll('|', '\\|');
}

/** The requirements are TypeScript, for the tests; Node 20 needs their types taken off. */
async function loadRequirements() {
  const { code } = await transform(readText('test/requirements.ts'), { loader: 'ts', format: 'esm' });
  return await import(`data:text/javascript,${encodeURIComponent(code)}`);
}

function readText(file) {
  try {
    return readFileSync(join(ROOT, file), 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return '';
    throw error;
  }
}

function write(text) {
  mkdirSync(dirname(join(ROOT, OUTPUT)), { recursive: true });
  writeFileSync(join(ROOT, OUTPUT), text);
  console.log(`wrote ${OUTPUT}`);
}
