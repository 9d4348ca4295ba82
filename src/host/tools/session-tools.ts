import type { WaitProgress } from '../../catalog/catalog.js';
import type { CatalogServer, CatalogSnapshot } from '../../catalog/snapshot.js';
import type { CapabilitySet } from '../../domain/capability.js';
import { needsOf } from '../../domain/profile-name.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { prepareServers } from '../runs/prepare-servers.js';
import { withScriptsServer } from '../scripts/scripts-server.js';
import type { SessionOptions, SessionParts } from '../session-parts.js';
import { findServer } from './discovery.js';
import { type CodeModeSettings, type ToolView, toolPolicyOf, viewOf } from './tool-view.js';

/** The tools that one session sees, now or once servers have answered. */
export class SessionTools {
  readonly #parts: SessionParts;
  readonly #options: SessionOptions;
  readonly #reach: CapabilitySet | undefined;
  /** Held weakly by snapshot: an idle session must not keep a server's old tools alive. */
  #views = new WeakMap<CatalogSnapshot, ToolView>();
  #scriptViews = new WeakMap<CatalogSnapshot, ToolView>();
  /** Modules have `@codemode/scripts`. Programs of other contracts get the stored scripts as one more server. */
  readonly #listsScripts: boolean;
  #codeMode: CodeModeSettings;

  constructor(parts: SessionParts, options: SessionOptions, reach: CapabilitySet | undefined) {
    this.#parts = parts;
    this.#options = options;
    this.#reach = reach;
    this.#codeMode = options.codeMode;
    this.#listsScripts = needsOf(options.profile).program !== 'module';
  }

  /** Whether the client writes programs or calls tools itself. `auto`: not decided yet. */
  get isCodeMode(): CodeModeSettings['enabled'] {
    return this.#codeMode.enabled;
  }

  /** Decides for the rest of the session, if the configuration leaves it open: a client's tools must not change. */
  choose(isCodeMode: boolean): void {
    if (this.#codeMode.enabled !== 'auto') return;
    this.#codeMode = { ...this.#codeMode, enabled: isCodeMode };
    this.#views = new WeakMap();
    this.#scriptViews = new WeakMap();
  }

  now(): ToolView {
    return this.#viewOf(this.#parts.catalog.snapshot());
  }

  /** Waits for starting servers until each has had `withinMs` since it was asked. */
  async settled(withinMs: number, onProgress?: WaitProgress): Promise<ToolView> {
    return this.#viewOf(await this.#parts.catalog.settle(withinMs, omitUndefined({ onProgress })));
  }

  /** Waits until servers that were never asked have answered or failed: the named servers, or all. */
  async ready(names: readonly string[]): Promise<ToolView> {
    const { catalog } = this.#parts;
    if (names.length === 0) return this.#viewOf(await catalog.prepareAll());
    const paths = names.flatMap((name) => findServer(name, catalog.snapshot())?.path ?? []);
    return this.#viewOf(await catalog.prepare(paths));
  }

  /** What a program sees, once the servers that it names have answered or timed out. */
  async viewFor(source: string, requested: readonly string[]): Promise<ToolView> {
    const { profile } = this.#options;
    // Another process may have stored or replaced one since the last program.
    if (this.#listsScripts) await this.#parts.scripts.openIfAny();
    const snapshot = this.now().forCode;
    return this.#viewOf(await prepareServers(this.#parts, { source, profile, requested, snapshot }));
  }

  /** A server that was still starting when a run began, as this caller sees it once it has answered. */
  async awaitServer({ path, id }: CatalogServer): Promise<CatalogServer | undefined> {
    await this.#parts.catalog.prepare([path]);
    return this.now().forCode.servers.find((server) => server.id === id);
  }

  #viewOf(snapshot: CatalogSnapshot): ToolView {
    const view = this.#viewOfServers(snapshot);
    if (!this.#listsScripts || this.#codeMode.enabled === false) return view;
    const forCode = withScriptsServer(view.forCode, this.#parts.scripts.known());
    return forCode === view.forCode ? view : this.#withScripts(view, forCode);
  }

  /** The same objects give the same view: what is made of a view is cached with it. */
  #withScripts(view: ToolView, forCode: CatalogSnapshot): ToolView {
    const known = this.#scriptViews.get(forCode);
    if (known !== undefined) return known;
    const made = { ...view, forCode };
    this.#scriptViews.set(forCode, made);
    return made;
  }

  #viewOfServers(snapshot: CatalogSnapshot): ToolView {
    const known = this.#views.get(snapshot);
    if (known !== undefined) return known;
    const { caller, reservedNames, profile } = this.#options;
    const { observed, gate } = this.#parts;
    const policy = toolPolicyOf(gate, { caller, profile, reach: this.#reach });
    const view = { ...viewOf(snapshot, this.#codeMode, reservedNames, policy), ...observed?.of({ caller, profile }) };
    this.#views.set(snapshot, view);
    return view;
  }
}
