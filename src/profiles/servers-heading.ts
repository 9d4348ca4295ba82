import type { CatalogBriefing } from '../domain/briefing.js';

/** The heading above a prompt's servers. A server that is starting is not connected, and its tools are unknown. */
export function serversHeading({
  serverCount,
  toolCount,
  startingCount,
}: Pick<CatalogBriefing, 'serverCount' | 'toolCount' | 'startingCount'>): string {
  if (startingCount === 0) return `## Connected servers: ${serverCount}, tools: ${toolCount}`;
  const which = startingCount === serverCount ? 'still starting' : `${startingCount} still starting`;
  return `## Servers: ${serverCount} (${which}), tools so far: ${toolCount}`;
}
