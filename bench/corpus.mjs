// @ts-check
// The tools that the bench measures with: the repository's own corpus, or the real servers' in the folder that
// CODEMODE_SHARED names. Figures over different corpora do not compare, so the rows say which it was.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { QUERIES } from '../test/corpus/own/queries.mjs';
import { ownToolsets } from '../test/corpus/own/toolsets.mjs';

const SHARED = process.env.CODEMODE_SHARED;
const FOLDER = SHARED ? join(SHARED, 'corpus') : undefined;

/** For a note in a table. */
export const CORPUS_NAME = FOLDER === undefined ? 'own corpus' : 'reference corpus';
export const isReference = FOLDER !== undefined;

/** @returns {{ id: string, name: string, description?: string, tools: any[] }[]} */
export function readToolsets() {
  if (FOLDER === undefined) return ownToolsets().map(({ server, ...more }) => ({ ...more, name: server }));
  const folder = join(FOLDER, 'toolsets');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json') && file !== 'index.json')
    .sort()
    .map((file) => {
      const { server, tools } = readJson(join(folder, file));
      return { id: file.slice(0, -'.json'.length), name: server, tools };
    });
}

/** All tools, as documents of a search index. */
export function toolsetDocuments() {
  return readToolsets().flatMap(({ id, name, description, tools }) =>
    tools.map((tool) => ({
      tool: { ...tool, serverId: id },
      serverName: name,
      ...(description !== undefined && { serverDescription: description }),
    })),
  );
}

/**
 * Tasks with the tools that they need, by name. Each tool counts, whichever server has it.
 *
 * @returns {{ documents: any[], tasks: { query: string, steps: string[], expectedToolNames: string[] }[] }}
 */
export function readRetrievalTasks() {
  if (FOLDER === undefined) {
    const nameOf = (id) => id.slice(id.indexOf('/') + 1);
    const tasks = QUERIES.map(({ query, needs }) => ({
      query,
      steps: query.split(/; |, then |, and |, |\? /),
      expectedToolNames: needs.map(([id]) => nameOf(id)),
    }));
    return { documents: toolsetDocuments(), tasks };
  }
  const { tools, queries } = readJson(join(FOLDER, 'retrieval', 'livemcpbench-dev.json'));
  const documents = tools.map(({ server, serverDescription, name, description, inputSchema }) => ({
    tool: { serverId: server, name, description, inputSchema },
    serverDescription,
  }));
  return { documents, tasks: queries.filter(({ expectedToolNames }) => expectedToolNames.length > 0) };
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
