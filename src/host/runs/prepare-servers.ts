import type { Catalog } from '../../catalog/catalog.js';
import type { CatalogServer, CatalogSnapshot } from '../../catalog/snapshot.js';
import { needsOf } from '../../domain/profile-name.js';
import { unknownGoCalls } from '../processes/go-package.js';
import type { ScriptLibrary } from '../scripts/stored-scripts.js';
import { findServer } from '../tools/discovery.js';
import { serversNamedIn, usesDiscovery } from './named-servers.js';

export interface PreparationParts {
  readonly catalog: Catalog;
  readonly scripts: Pick<ScriptLibrary, 'list' | 'get'>;
  /** How long a server may delay a listing or a search, counted from when it was asked. */
  readonly firstListingMs: number;
}

/** A program that is about to start. */
export interface ProgramToPrepare {
  readonly source: string;
  readonly profile: string;
  /** Servers that the request names besides the source. They are connected first, even if their tools are known. */
  readonly requested: readonly string[];
  /** What the program sees now. */
  readonly snapshot: CatalogSnapshot;
}

/** The most stored scripts whose sources are searched: more than a single run may execute. */
const MAX_SCRIPTS = 100;
/** The same time a program waits for servers that it names. */
const FUNCTIONS_TIMEOUT_MS = 10_000;

/**
 * Waits only for the servers that a program names: a hanging server costs nothing if it is not used. A program that searches, or
 * computes names, waits for all starting servers, but only until each has had its time.
 */
export async function prepareServers(parts: PreparationParts, program: ProgramToPrepare): Promise<CatalogSnapshot> {
  const { catalog, firstListingMs } = parts;
  const { requested, snapshot, profile } = program;
  const source = await withStoredScripts(parts, program);
  const candidates = snapshot.servers.filter(({ id, holdsScripts }) => holdsScripts !== true && catalog.mustAsk(id));
  const named = serversNamedIn(source, snapshot, candidates).map(({ path }) => path);
  const wanted = requested.flatMap((name) => findServer(name, snapshot)?.path ?? []);
  const isGo = needsOf(profile).runtime === 'go';
  await Promise.all([
    catalog.prepare(named),
    catalog.prepare(wanted, { isConnecting: true }),
    usesDiscovery(source) ? catalog.settle(firstListingMs, { hasChanged: true }) : undefined,
    isGo ? awaitGoFunctions(catalog, source, snapshot, candidates) : undefined,
  ]);
  return catalog.snapshot();
}

/** Go function names contain no server: a call of an unknown function may belong to any server that is starting. */
async function awaitGoFunctions(
  catalog: Catalog,
  source: string,
  snapshot: CatalogSnapshot,
  candidates: readonly CatalogServer[],
): Promise<void> {
  if (candidates.length === 0 || unknownGoCalls(source, snapshot).length === 0) return;
  await catalog.wait(
    candidates.map(({ id }) => id),
    FUNCTIONS_TIMEOUT_MS,
    { until: () => unknownGoCalls(source, catalog.snapshot()).length === 0 },
  );
}

/** The source together with the stored scripts that it runs, directly or indirectly: they see the same servers. */
async function withStoredScripts({ scripts }: PreparationParts, program: ProgramToPrepare): Promise<string> {
  const { source, snapshot } = program;
  // A program of a contract without modules may write a script's name in any spelling: no other word tells that it runs one.
  const isServer = snapshot.servers.some(({ holdsScripts }) => holdsScripts === true);
  if (!isServer && !RUNS_SCRIPTS.test(source)) return source;
  // If the store cannot be opened, the program gets the error when it runs a script.
  const heads = (await scripts.list().catch(() => [])).slice(0, MAX_SCRIPTS);
  const sources = new Map<string, string>();
  const follow = async (text: string): Promise<void> => {
    const letters = lettersOf(text);
    const named = heads.filter(({ name }) => letters.includes(lettersOf(name)));
    // Names computed at run time may be any script.
    for (const { name } of named.length === 0 && RUNS_SCRIPTS.test(text) ? heads : named) {
      if (sources.has(name)) continue;
      const found = await scripts.get(name).catch(() => undefined);
      sources.set(name, found?.source ?? '');
      if (found !== undefined && RUNS_SCRIPTS.test(found.source)) await follow(found.source);
    }
  };
  await follow(source);
  return [source, ...sources.values()].join('\n');
}

/** `monthly-report`, `monthly_report` and `monthlyReport` are one name here. A name too many costs a wait for its servers. */
function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, '');
}

const RUNS_SCRIPTS = /@codemode\/scripts|\bcall_script\b/;
