import type { CatalogServer, CatalogSnapshot, CatalogTool } from '../../catalog/snapshot.js';

/**
 * Most callers have the same policy, and everything made from a snapshot (modules, declarations, packages) is cached with it.
 * Callers that see the same marks share one snapshot, up to this number of variants. Further callers get their own.
 */
const MAX_SHARED = 16;
const shared = new WeakMap<CatalogSnapshot, Map<string, CatalogSnapshot>>();

/** The same tools, with a mark on those whose calls need approval. The snapshot itself if there are none. */
export function markApprovalTools(snapshot: CatalogSnapshot, asks: (tool: CatalogTool) => boolean): CatalogSnapshot {
  const asking = new Set(snapshot.servers.flatMap(({ tools }) => tools.filter(asks)));
  if (asking.size === 0) return snapshot;
  const known = shared.get(snapshot) ?? new Map<string, CatalogSnapshot>();
  shared.set(snapshot, known);
  const key = JSON.stringify([...asking].map(({ target }) => target));
  const marked = known.get(key) ?? marking(snapshot, asking);
  if (known.size < MAX_SHARED) known.set(key, marked);
  return marked;
}

function marking(snapshot: CatalogSnapshot, asking: ReadonlySet<CatalogTool>): CatalogSnapshot {
  const servers = snapshot.servers.map((server): CatalogServer => {
    const tools: CatalogTool[] = [];
    const view: CatalogServer = { ...server, tools };
    for (const tool of server.tools) tools.push({ ...tool, server: view, ...(asking.has(tool) ? { asks: true } : {}) });
    return view;
  });
  return {
    ...snapshot,
    whole: snapshot.whole ?? snapshot,
    servers,
    serverByPath: new Map(servers.map((server) => [server.path, server])),
    toolByTarget: new Map(servers.flatMap(({ tools }) => tools.map((tool) => [tool.target, tool]))),
  };
}
