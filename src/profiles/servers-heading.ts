import type { CatalogBriefing } from '../domain/briefing.js';

/** Above what a prompt says of servers. One that is starting is not connected, and has tools that nobody knows yet. */
export function serversHeading({
  serverCount,
  toolCount,
  startingCount,
}: Pick<CatalogBriefing, 'serverCount' | 'toolCount' | 'startingCount'>): string {
  if (startingCount === 0) return `## Connected servers: ${serverCount}, tools: ${toolCount}`;
  const which = startingCount === serverCount ? 'still starting' : `${startingCount} still starting`;
  return `## Servers: ${serverCount} (${which}), tools so far: ${toolCount}`;
}
