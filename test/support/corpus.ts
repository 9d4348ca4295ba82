import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tool } from '../../src/domain/tool.js';
import { ownToolsets } from '../corpus/own/toolsets.mjs';
import { isReference, referencePath } from './reference.js';

export interface Toolset {
  readonly id: string;
  readonly serverName: string;
  readonly tools: readonly Tool[];
}

/** The tools that tests run over: the repository's own, or in the project `reference` those of real servers. */
export function loadToolsets(): readonly Toolset[] {
  const servers = isReference() ? referenceToolsets() : ownToolsets();
  return servers.map(({ id, server, tools }) => ({
    id,
    serverName: server,
    tools: tools.map((tool) => ({ ...tool, serverId: id })),
  }));
}

/** What a test expects of the corpus that it runs over. */
export function ofCorpus<Value>(expected: { readonly own: Value; readonly reference: Value }): Value {
  return isReference() ? expected.reference : expected.own;
}

function referenceToolsets(): readonly { id: string; server: string; tools: Tool[] }[] {
  const folder = referencePath('corpus', 'toolsets');
  if (!existsSync(folder)) throw new Error(`There is no ${folder}. Set CODEMODE_SHARED to the folder that has corpus.`);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json') && file !== 'index.json')
    .sort()
    .map((file) => ({
      id: file.slice(0, -'.json'.length),
      ...(JSON.parse(readFileSync(join(folder, file), 'utf8')) as { server: string; tools: Tool[] }),
    }));
}
