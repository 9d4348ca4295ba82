// @ts-check
// Real tools of real servers. They are not part of the repository: rows that need them say so where they are missing.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../scripts/house.mjs';

const FOLDER = join(process.env.CODEMODE_SHARED ?? join(ROOT, '..', 'shared'), 'corpus');

/** @param {string} name @returns {import('./table.mjs').Row[] | undefined} what to show instead of figures */
export function missingCorpus(name) {
  if (existsSync(join(FOLDER, 'toolsets'))) return undefined;
  return [{ name, note: 'not measured: set CODEMODE_SHARED to the folder that has corpus/toolsets' }];
}

/** @returns {{ id: string, name: string, tools: any[] }[]} */
export function readToolsets() {
  return readdirSync(join(FOLDER, 'toolsets'))
    .filter((file) => file.endsWith('.json') && file !== 'index.json')
    .sort()
    .map((file) => {
      const { server, tools } = readJson(join(FOLDER, 'toolsets', file));
      return { id: file.slice(0, -'.json'.length), name: server, tools };
    });
}

/** Tasks with the tools that they need. */
export function readRetrievalTasks() {
  return readJson(join(FOLDER, 'retrieval', 'livemcpbench-dev.json'));
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
