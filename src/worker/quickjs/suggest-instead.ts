export const DISCOVERY = '@codemode/discovery';

/** The hint for something missing that a tool may do. */
export function findTool(words: string): string {
  return `Find a tool: import { searchTools } from '${DISCOVERY}'; await searchTools('${words}');`;
}

/** The replacements for Node modules that programs import by habit, and for packages that do the same work. */
export function suggestInstead(specifier: string): string | undefined {
  const name = specifier.replace(/^node:/, '');
  if (/^fs(?:-extra|\/promises)?$/.test(name)) return `There are no files here. ${findTool('read a file')}`;
  if (/^(?:https?|http2|net|tls|dgram|dns|axios|node-fetch|undici|got|ws)$/.test(name))
    return `There is no network here. ${findTool('fetch a page')}`;
  // The name is not spelled out: the test of this bundle would take the word for an import.
  if (/^(?:child.process|worker_threads|cluster|execa)$/.test(name))
    return `There are no processes here. ${findTool('run a command')}`;
  if (name === 'process' || name === 'os') return 'Write values into the program: there is no environment here.';
  if (
    name !== specifier ||
    /^(?:path|util|url|buffer|crypto|events|stream|assert|timers|zlib|readline|querystring)\b/.test(name)
  )
    return 'Leave the import out and write it in plain JavaScript: there are no modules of Node here.';
  return undefined;
}
