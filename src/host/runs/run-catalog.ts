import type { CatalogServer, CatalogSnapshot } from '../../catalog/snapshot.js';

/** Waits for a server that is starting, and returns it as this caller sees it. */
export type AwaitServer = (server: CatalogServer) => Promise<CatalogServer | undefined>;

/**
 * The tools that one run sees. They do not change until the run ends; only a server that was still starting is filled in
 * when the run first uses it.
 */
export class RunCatalog {
  readonly #awaitServer: AwaitServer;
  /** Servers that did not answer within one wait. This run does not wait for them again. */
  readonly #missed = new Set<string>();
  #snapshot: CatalogSnapshot;

  constructor(snapshot: CatalogSnapshot, awaitServer: AwaitServer) {
    this.#snapshot = snapshot;
    this.#awaitServer = awaitServer;
  }

  get snapshot(): CatalogSnapshot {
    return this.#snapshot;
  }

  /** Waits for this server, if it was still starting. Returns whether its tools are known now. */
  async fillIn(server: CatalogServer | undefined): Promise<boolean> {
    if (server?.isStarting !== true || this.#missed.has(server.id)) return false;
    this.#missed.add(server.id);
    const arrived = await this.#awaitServer(server);
    if (arrived === undefined || arrived.isStarting === true) return false;
    const servers = this.#snapshot.servers.map((each) => (each.id === arrived.id ? arrived : each));
    this.#snapshot = {
      ...this.#snapshot,
      servers,
      serverByPath: new Map(servers.map((each) => [each.path, each])),
      toolByTarget: new Map(servers.flatMap(({ tools }) => tools.map((tool) => [tool.target, tool]))),
    };
    return true;
  }
}
