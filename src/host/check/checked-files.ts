import { declareCheckedFile } from '../../catalog/declarations/typescript/typescript.js';
import { type CatalogServer, type CatalogSnapshot, isUnavailable } from '../../catalog/snapshot.js';
import type { CheckedFiles } from '../../sandbox/checker/project-files.js';

/**
 * The declarations that a caller's programs are checked with. Each server's are written once, when a program first imports
 * it, and again when its tools change; what the caller does not see is not in them.
 */
export function checkedFilesOf(snapshot: CatalogSnapshot, library: string): CheckedFiles {
  const known = files.get(snapshot);
  if (known?.library === library) return known.files;
  const unknown = snapshot.servers.filter(isUnavailable).map(({ path }) => anyModule(`@codemode/servers/${path}`));
  const made: CheckedFiles = {
    globals: `${GLOBALS}${library}${OWN_MODULES.map(anyModule).join('')}${unknown.join('')}`,
    module: (name) => {
      const server = name.startsWith(SERVERS) ? snapshot.serverByPath.get(name.slice(SERVERS.length)) : undefined;
      return server === undefined || isUnavailable(server) ? undefined : textOf(server);
    },
  };
  files.set(snapshot, { library, files: made });
  return made;
}

const files = new WeakMap<CatalogSnapshot, { readonly library: string; readonly files: CheckedFiles }>();
const texts = new WeakMap<CatalogServer['tools'], string>();
const SERVERS = 'servers/';

/** Of a server whose tools are not known, everything can be imported as far as types go. */
function anyModule(specifier: string): string {
  return `declare module ${JSON.stringify(specifier)};\n`;
}

const OWN_MODULES = ['@codemode/scripts', '@codemode/input'];

/** Names that the sandbox has and the language has not. What they are is not worth a check. */
const GLOBALS = [
  ...['console', 'URL', 'URLSearchParams', 'TextEncoder', 'TextDecoder', 'setTimeout', 'clearTimeout', 'fetch'],
  ...['structuredClone', 'queueMicrotask', 'atob', 'btoa', 'DOMException'],
]
  .map((name) => `declare var ${name}: any;\n`)
  .join('');

function textOf(server: CatalogServer): string {
  const known = texts.get(server.tools);
  if (known !== undefined) return known;
  const { text } = declareCheckedFile({
    path: server.path,
    serverId: server.id,
    serverName: server.name,
    tools: server.tools.map(({ tool }) => tool),
    exportNames: new Map(server.tools.map(({ tool, exportName }) => [tool.name, exportName])),
  });
  texts.set(server.tools, text);
  return text;
}
