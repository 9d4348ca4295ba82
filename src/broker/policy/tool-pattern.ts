import type { Tool } from '../../domain/tool.js';
import { matchesGlob } from '../../lib/text/glob.js';

/** `server/tool`, with `*` for any characters in either. */
export interface ToolPattern {
  readonly server: string;
  readonly tool: string;
}

export const TOOL_PATTERN_EXAMPLE = 'a pattern such as files/write_* (files/* for all tools of a server)';

/** Built-in modules whose calls pass the policy: `@codemode/scripts/save`. */
const OWN_MODULE = /^@(codemode\/[a-z]+)\/(.+)$/s;

/** `undefined` if the text is not a pattern. A tool's own name may contain slashes, a server's can't. */
export function readToolPattern(text: string): ToolPattern | undefined {
  if (text === '*') return { server: '*', tool: '*' };
  const [, ownServer, ownTool] = OWN_MODULE.exec(text) ?? [];
  if (ownServer !== undefined && ownTool !== undefined) return { server: ownServer, tool: ownTool };
  const slash = text.indexOf('/');
  return slash < 1 || slash === text.length - 1
    ? undefined
    : { server: text.slice(0, slash), tool: text.slice(slash + 1) };
}

/** Whether the pattern matches exactly: tool names unchanged, servers by their configured name. */
export function fitsExactly({ server, tool }: ToolPattern, { serverId, name }: Tool): boolean {
  return matchesGlob(server, serverId) && matchesGlob(tool, name);
}

/** Whether an entry of an allow-list matches this tool: a pattern, a tool's name alone, or its id `server.tool`. */
export function isListed(entry: string, tool: Tool): boolean {
  const pattern = readToolPattern(entry) ?? { server: '*', tool: entry };
  return fitsExactly(pattern, tool) || entry === `${tool.serverId}.${tool.name}`;
}

/**
 * Whether the pattern may match this tool, also if its server evades it with other capitals, full-width or invisible
 * characters. For rules that restrict.
 */
export function fitsLoosely(pattern: ToolPattern, tool: Tool, serverPath: string): boolean {
  if (fitsExactly(pattern, tool)) return true;
  const server = folded(pattern.server);
  return (
    (matchesGlob(server, folded(tool.serverId)) || matchesGlob(server, folded(serverPath))) &&
    matchesGlob(folded(pattern.tool), folded(tool.name))
  );
}

/**
 * Whether a rule or limit on the pattern applies to this tool, also if its name has the same words in another spelling
 * (`delete_file`, `deleteFile`, `delete-file`). Languages map these to one name, so a server that lists two of them could have
 * the second called although the first is denied. For rules that restrict.
 */
export function fitsAnySpelling(pattern: ToolPattern, tool: Tool, serverPath: string): boolean {
  if (fitsLoosely(pattern, tool, serverPath)) return true;
  const server = folded(pattern.server);
  if (!matchesGlob(server, folded(tool.serverId)) && !matchesGlob(server, folded(serverPath))) return false;
  if (!pattern.tool.includes('*')) {
    const letters = lettersOf(pattern.tool);
    return letters !== '' && letters === lettersOf(tool.name);
  }
  return matchesGlob(wordsOf(pattern.tool), wordsOf(tool.name));
}

/** `deleteFile` and `delete-file` to `delete_file`. */
function wordsOf(name: string): string {
  return folded(name.slice(0, MAX_NAME_CHARACTERS).replace(HUMP, '_')).replace(BETWEEN_WORDS, '_');
}

function lettersOf(name: string): string {
  return wordsOf(name).replaceAll('_', '');
}

const MAX_NAME_CHARACTERS = 1_000;
const HUMP = /(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu;
const BETWEEN_WORDS = /[^\p{L}\p{N}*]+/gu;

function folded(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .toLowerCase();
}
