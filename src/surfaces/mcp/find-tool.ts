import type { DirectTool } from '../../host/tools/tool-view.js';
import type { ExposedTool } from '../../profiles/profile.js';
import type { ClientConnection } from './mcp-session.js';

export type FoundTool =
  | { readonly kind: 'exposed'; readonly tool: ExposedTool }
  | { readonly kind: 'direct'; readonly tool: DirectTool };

/**
 * The tool that a client means. Listed names come first, so that no alternative spelling hides another tool. Then come the
 * spellings of contracts and servers, for clients that learned a name elsewhere.
 */
export function findTool({ listing, session }: ClientConnection, name: string): FoundTool | undefined {
  const { direct } = session.tools();
  return (
    find(listing.exposed, direct, (tool) => tool.name === name) ??
    find(listing.exposed, direct, ({ aliases }) => aliases?.includes(name) === true)
  );
}

function find(
  exposed: readonly ExposedTool[],
  direct: readonly DirectTool[],
  isMeant: (tool: Pick<ExposedTool, 'name' | 'aliases'>) => boolean,
): FoundTool | undefined {
  const ours = exposed.find(isMeant);
  if (ours !== undefined) return { kind: 'exposed', tool: ours };
  const theirs = direct.find(isMeant);
  return theirs === undefined ? undefined : { kind: 'direct', tool: theirs };
}
