import { omitUndefined } from '../lib/omit-undefined.js';
import type { Entry } from './catalog-entry.js';
import { exportNames } from './names.js';
import type { CatalogServer, CatalogTool } from './snapshot.js';

/** No agent can use more tools of one server, and every run pays for them. */
const MAX_TOOLS_PER_SERVER = 10_000;

/** One server of a snapshot. `description` is the user's own and replaces the server's. */
export function catalogServer(
  id: string,
  path: string,
  { listing, problem }: Pick<Entry, 'listing' | 'problem'>,
  description = listing?.description,
): CatalogServer {
  const isStarting = listing === undefined && problem === undefined;
  const tools: CatalogTool[] = [];
  const server: CatalogServer = {
    id,
    path,
    name: listing?.name ?? id,
    ...omitUndefined({ version: listing?.version, description }),
    isAvailable: problem === undefined && !isStarting,
    ...(isStarting ? { isStarting } : {}),
    ...omitUndefined({ problem }),
    tools,
  };
  const listed = listing?.tools.slice(0, MAX_TOOLS_PER_SERVER) ?? [];
  const names = exportNames(listed.map(({ name }) => name));
  for (const tool of listed) {
    tools.push({ tool, exportName: names.get(tool.name) ?? tool.name, target: `${path}/${tool.name}`, server });
  }
  return server;
}
