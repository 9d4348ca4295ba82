import type { CatalogServer } from '../catalog/snapshot.js';
import type { ToolView } from './tool-view.js';

/** Servers that are announced with one answer; the others follow with the next ones. */
const MAX_ANNOUNCED = 8;

/**
 * What the client of a session has been told of servers. Its list of tools stays as it was first given, so that the model's
 * prompt is not rebuilt: a server that comes later is announced with the next answer of a run, once.
 */
export class ToldServers {
  #named: Set<string> | undefined;
  #hasNotice = false;

  /** The client has been given its first list of tools, made of this view. */
  listed(view: ToolView): void {
    this.#named ??= new Set(knownIn(view).map(({ path }) => path));
  }

  /** Servers of this view that the client does not know of. From now on it does. */
  takeLate(view: ToolView): CatalogServer[] {
    const named = this.#named;
    if (named === undefined) return [];
    const late = knownIn(view)
      .filter(({ path, tools }) => !named.has(path) && tools.length > 0)
      .slice(0, MAX_ANNOUNCED);
    for (const { path } of late) named.add(path);
    return late;
  }

  /** What to say where no server is configured: with the first answer, and whenever a program looks for servers. */
  takeNotice({ forCode: { notice } }: ToolView, looksForServers: boolean): string | undefined {
    const isFirst = this.#named !== undefined && !this.#hasNotice;
    if (notice === undefined || !(isFirst || looksForServers)) return undefined;
    this.#hasNotice = true;
    return notice;
  }
}

/** Those whose tools the view has, on either side. */
function knownIn({ forCode }: ToolView): readonly CatalogServer[] {
  return forCode.servers.filter(({ isStarting }) => isStarting !== true);
}

/** Whether a program looks for servers at all, whichever there are. */
export function looksForServers(source: string): boolean {
  return /@codemode\/(?:servers|discovery)|\bcall_tool\b|\bcallTool\b|\bmcp\s*[.[]|\bservers\b|\bsearchTools\b/.test(
    source,
  );
}

/** Characters of declarations that come with one announcement. */
const MAX_ANNOUNCED_CHARACTERS = 12_000;

/** A server that came late, for an agent whose list of tools was made before. */
export function announcement({ id, tools }: CatalogServer, declarations: string): string {
  const names = tools.map(({ tool }) => tool.name).join(', ');
  const text =
    declarations.length <= MAX_ANNOUNCED_CHARACTERS
      ? declarations
      : `${declarations.slice(0, MAX_ANNOUNCED_CHARACTERS)}\n... (cut)`;
  return `Server ${JSON.stringify(id)} is connected now, with ${tools.length} tools: ${names.slice(0, MAX_NAMES_CHARACTERS)}\n${text}`;
}

const MAX_NAMES_CHARACTERS = 4_000;
