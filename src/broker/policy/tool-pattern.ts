import type { Tool } from '../../domain/tool.js';
import { matchesGlob } from '../../lib/glob.js';

/** `server/tool`, with `*` for any characters in either. */
export interface ToolPattern {
  readonly server: string;
  readonly tool: string;
}

export const TOOL_PATTERN_EXAMPLE = 'a pattern such as files/write_* (files/* for all tools of a server)';

/** `undefined` where the text is none. A tool's own name may have slashes in it, a server's can't. */
export function readToolPattern(text: string): ToolPattern | undefined {
  if (text === '*') return { server: '*', tool: '*' };
  const slash = text.indexOf('/');
  return slash < 1 || slash === text.length - 1
    ? undefined
    : { server: text.slice(0, slash), tool: text.slice(slash + 1) };
}

/** Whether the pattern means this tool and no other: names are compared as they are, servers by their configured name. */
export function fitsExactly({ server, tool }: ToolPattern, { serverId, name }: Tool): boolean {
  return matchesGlob(server, serverId) && matchesGlob(tool, name);
}

/**
 * Whether the pattern may mean this tool: also where a server writes the name with other capitals, full-width or
 * invisible characters to get around it. For what restricts.
 */
export function fitsLoosely(pattern: ToolPattern, tool: Tool, serverPath: string): boolean {
  if (fitsExactly(pattern, tool)) return true;
  const server = folded(pattern.server);
  return (
    (matchesGlob(server, folded(tool.serverId)) || matchesGlob(server, folded(serverPath))) &&
    matchesGlob(folded(pattern.tool), folded(tool.name))
  );
}

function folded(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .toLowerCase();
}
