import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Tool } from '../../src/domain/tool.js';

export interface Toolset {
  readonly id: string;
  readonly serverName: string;
  readonly tools: readonly Tool[];
}

/** Folder with real data that is not part of the repository; `CODEMODE_SHARED` names another place for it. */
const FOLDER = process.env.CODEMODE_SHARED ?? join(dirname(fileURLToPath(import.meta.url)), '../../../shared');

/** Why tests over the corpus can't run here, or `undefined`. */
export const CORPUS_MISSING = existsSync(join(FOLDER, 'corpus/toolsets'))
  ? undefined
  : `no corpus of real tools at ${FOLDER}: set CODEMODE_SHARED to the folder that has it`;

/** The complete `tools/list` answers of public MCP servers, as the servers send them. */
export function loadToolsets(): readonly Toolset[] {
  const folder = join(FOLDER, 'corpus/toolsets');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json') && file !== 'index.json')
    .sort()
    .map((file) => {
      const id = file.slice(0, -'.json'.length);
      const { server, tools } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
        server: string;
        tools: Tool[];
      };
      return { id, serverName: server, tools: tools.map((tool) => ({ ...tool, serverId: id })) };
    });
}
