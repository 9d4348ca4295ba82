// @ts-check
// The five rules of docs/security/rules.md hold at every entry point, and each has its tests there. An entry point that is
// added without its row in the table fails here; so does a row without its entry point, and a test that is not there.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMain, ROOT } from './repository.mjs';

const TABLE = 'docs/security/rules.md';
/** Cells that name no test: the rule does not apply there, or no test has been named yet. */
const WITHOUT_TEST = new Set(['none', 'open']);
const COLUMNS = 6;

/**
 * @param {string} root
 * @param {string} table
 * @returns {string[]}
 */
export function findProblems(root, table) {
  const rows = rowsOf(table);
  const points = entryPoints(root);
  return [
    ...points.filter((point) => !rows.has(point)).map((point) => `${TABLE}: ${point} has no row`),
    ...[...rows.keys()].filter((point) => !points.includes(point)).map((point) => `${TABLE}: there is no ${point}`),
    ...[...rows].flatMap(([point, cells]) => problemsOf(root, point, cells)),
  ];
}

/**
 * Everything through which somebody reaches the program, or the program reaches somebody.
 *
 * @param {string} root
 * @returns {string[]}
 */
export function entryPoints(root) {
  const files = (/** @type {string} */ folder) => readdirSync(join(root, folder), { withFileTypes: true });
  const names = (/** @type {string} */ folder) =>
    files(folder).flatMap((each) => (/(?<!\.test)\.ts$/.test(each.name) ? [each.name.slice(0, -3)] : []));
  const folders = (/** @type {string} */ folder) =>
    files(folder).flatMap((each) => (each.isDirectory() ? [each.name] : []));
  return [
    ...names('src/surfaces/cli/commands').map((name) => `command ${name}`),
    ...['http', 'rest', 'mcp'].flatMap((surface) => routes(root, `src/surfaces/${surface}`)),
    ...['src/surfaces/console', 'src/surfaces/console/routes'].flatMap((folder) =>
      routes(root, folder).map((route) => route.replace(/ \/(?=[a-z])/, ' /console/api/')),
    ),
    ...['stdio', 'http'].flatMap((transport) => ['legacy', 'modern'].map((era) => `mcp ${transport} ${era}`)),
    ...names('src').flatMap((name) => (ADAPTERS.test(name) ? [`library ${name}`] : [])),
    ...folders('src/profiles').map((name) => `profile ${name}`),
    ...folders('src/worker').flatMap((name) => (name === 'transpiler' ? [] : [`runtime ${name}`])),
    ...[...names('src/upstream/mcp'), ...folders('src/upstream/mcp')].flatMap((name) =>
      TRANSPORTS.test(name) ? [`upstream mcp ${name}`] : [],
    ),
    ...folders('src/upstream').flatMap((name) => (name === 'mcp' ? [] : [`upstream ${name}`])),
  ].sort();
}

const ADAPTERS = /^(?:index|langchain|ai-sdk)$/;
const TRANSPORTS = /^(?:stdio|http|websocket)$/;
const ROUTE = /\.(get|post|put|delete|patch)(?:<[^>]*(?:<[^>]*>[^>]*)*>)?\(\s*['`]([^'`]+)['`]/g;
const MOUNTED = /\bmountRun\(\s*scope,\s*['`]([^'`]+)['`]/g;
const MANY = /\.route\(\{[^}]*url: '([^']+)'/g;
const UPGRADE = /['"](\/ws)['"]/g;

/**
 * @param {string} root
 * @param {string} folder
 */
function routes(root, folder) {
  const found = new Set();
  for (const name of readdirSync(join(root, folder))) {
    if (!/(?<!\.test)\.ts$/.test(name)) continue;
    const text = readFileSync(join(root, folder, name), 'utf8');
    for (const [, method = '', path = ''] of text.matchAll(ROUTE))
      if (path.startsWith('/')) found.add(`route ${method.toUpperCase()} ${path}`);
    for (const [, path] of text.matchAll(MOUNTED)) found.add(`route POST ${path}`);
    for (const [, path] of text.matchAll(MANY)) found.add(`route ${path}`);
    for (const [, path] of text.matchAll(UPGRADE)) found.add(`route ${path}`);
  }
  return [...found];
}

/**
 * @param {string} table
 * @returns {Map<string, string[]>}
 */
function rowsOf(table) {
  /** @type {Map<string, string[]>} */
  const rows = new Map();
  for (const line of table.split('\n')) {
    const cells = line.split('|').map((cell) => cell.trim());
    const [, point = ''] = cells;
    if (!/^(?:command|route|mcp|library|profile|runtime|upstream) /.test(point)) continue;
    rows.set(point, cells.slice(2, -1));
  }
  return rows;
}

/**
 * @param {string} root
 * @param {string} point
 * @param {readonly string[]} cells
 */
function problemsOf(root, point, cells) {
  if (cells.length !== COLUMNS) return [`${TABLE}: ${point} has ${cells.length} cells and needs ${COLUMNS}`];
  return cells.flatMap((cell) =>
    cell.split(/,\s*/).flatMap((name) => {
      if (WITHOUT_TEST.has(name)) return [];
      const file = name.replaceAll('`', '');
      const places = [`test/${file}.test.ts`, `src/${file}.test.ts`];
      return places.some((place) => existsSync(join(root, place)))
        ? []
        : [`${TABLE}: ${point} names no test: "${name}"`];
    }),
  );
}

if (isMain(import.meta.url)) {
  const problems = findProblems(ROOT, readFileSync(join(ROOT, TABLE), 'utf8'));
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
