import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, resolve, sep } from 'node:path';
import type { UpstreamDefinition } from '../../domain/upstream.js';

/**
 * Warns about servers that can reach a folder with the rules themselves: through them an agent could rewrite its own policy, or
 * read the key and the tokens. Judged by the words of their command only; a server may reach more than those name.
 */
export function exposureWarnings(
  upstreams: readonly UpstreamDefinition[],
  { file, stateFolder }: { readonly file: string | undefined; readonly stateFolder: string },
): string[] {
  const guarded = [
    ...(file === undefined ? [] : [{ path: real(file), noun: 'the configuration' }]),
    { path: real(stateFolder), noun: 'the state folder' },
    ...upstreams.flatMap(({ id, target }) =>
      target.kind === 'openapi' && isAbsolute(target.document)
        ? [{ path: real(target.document), noun: `the OpenAPI document of ${id}` }]
        : [],
    ),
  ];
  return upstreams.flatMap(({ id, target }) => {
    if (target.kind !== 'stdio') return [];
    const folders = target.arguments.map((word) => real(resolve(target.cwd ?? '.', word))).filter(isFolder);
    return guarded.flatMap(({ path, noun }) => {
      const folder = folders.find((each) => path === each || path.startsWith(each === sep ? sep : `${each}${sep}`));
      if (folder === undefined) return [];
      return [
        `server ${id} can use ${folder}, which contains ${noun}: an agent could change its own rules through that server; give it a narrower folder`,
      ];
    });
  });
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
