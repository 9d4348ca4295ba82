import { hash } from 'node:crypto';
import type { Log } from '../../domain/log.js';
import { breakEvenOf } from '../../host/admin/break-even.js';
import type { Host } from '../../host/host.js';
import type { Session } from '../../host/session.js';
import {
  type CatalogSnapshot,
  type CodeModeSettings,
  type ToolView,
  unmatchedExclusions,
} from '../../host/tools/tool-view.js';
import type { ExposedTool, Profile } from '../../profiles/profile.js';
import { toldTexts } from '../../profiles/told-texts.js';
import { type ExposedScripts, scriptTools } from './exposed-scripts.js';
import { FIRST_LISTING_MS, FirstListing } from './first-listing.js';

/** Servers start one after the other: their news are told together. */
const NEWS_DELAY_MS = 100;

export interface ListingOptions {
  readonly profile: Profile;
  readonly codeMode: CodeModeSettings;
  /** What the configuration says about waiting for servers that are starting. */
  readonly firstListingMs?: number;
  readonly host: Host;
  readonly exposedScripts?: ExposedScripts;
  readonly log: Log;
}

/** What a client sees, as digests: they differ where something that it sees does. */
export interface ListingDigests {
  readonly tools: string;
  readonly resources: string;
}

/** What the listings of all clients of a surface share. What each client sees is its own. */
export class CommonListing {
  /** The stored scripts that are tools of their own, as they are now. */
  readonly scriptTools: () => readonly ExposedTool[];
  readonly #first: FirstListing;
  readonly #codeMode: CodeModeSettings;
  readonly #profile: Profile;
  readonly #log: Log;
  /** Callers under the same policy see the same snapshot, and it is read once for all of them. */
  readonly #digests = new WeakMap<CatalogSnapshot, ListingDigests>();
  /** Whether direct tools cost less: counted once for callers who see the same. */
  readonly #isBelow = new WeakMap<CatalogSnapshot, boolean>();
  #hasWarned = false;

  constructor({ profile, codeMode, firstListingMs, host, exposedScripts, log }: ListingOptions) {
    this.scriptTools = () => (exposedScripts === undefined ? [] : scriptTools(host, exposedScripts));
    this.#profile = profile;
    this.#codeMode = codeMode;
    this.#log = log;
    const listsTheirs = codeMode.enabled !== true || codeMode.excludedTools.length > 0;
    this.#first = new FirstListing(firstListingMs ?? FIRST_LISTING_MS[listsTheirs ? 'listing' : 'describing'], log);
  }

  /** Waits for servers that are starting, until each has had its time. */
  awaitServers(session: Session): Promise<void> {
    return this.#first.wait(session);
  }

  /** Undefined where every tool is listed as it is. */
  profileFor({ codeMode }: Session): Profile | undefined {
    return codeMode.isCodeMode === false ? undefined : this.#profile;
  }

  /**
   * Where the configuration leaves it open, chooses whether this client writes programs: not where its tools cost less to read. While servers
   * are starting that is not known; `isLastCall` decides it all the same, for programs.
   */
  chooseFor(session: Session, { isLastCall }: { readonly isLastCall: boolean }): void {
    if (session.codeMode.isCodeMode !== 'auto') return;
    const view = session.tools();
    const { servers } = view.forCode.whole ?? view.forCode;
    if (servers.some(({ isStarting }) => isStarting === true)) {
      if (isLastCall) session.codeMode.choose(true);
      return;
    }
    let isBelow = this.#isBelow.get(view.forCode);
    if (isBelow === undefined) {
      isBelow = breakEvenOf(view, toldTexts(this.#profile, view, session.scripts())).isBelow;
      this.#isBelow.set(view.forCode, isBelow);
    }
    session.codeMode.choose(!isBelow);
  }

  digestsOf(
    { forCode }: ToolView,
    make: () => { readonly tools: unknown; readonly resources: unknown },
  ): ListingDigests {
    let digests = this.#digests.get(forCode);
    if (digests === undefined) {
      const { tools, resources } = make();
      digests = { tools: digest(tools), resources: digest(resources) };
      this.#digests.set(forCode, digests);
    }
    return digests;
  }

  /** A misspelt name leaves a tool callable from code that somebody meant to exclude: said once, when all servers are known. */
  warnOfExclusions(view: ToolView): void {
    if (this.#hasWarned) return;
    const unmatched = unmatchedExclusions(view, this.#codeMode.excludedTools);
    if (unmatched === undefined) return;
    this.#hasWarned = true;
    if (unmatched.length > 0)
      this.#log(`codeMode.excludedTools: no tool of the connected servers is named ${unmatched.join(', ')}`, 'warn');
  }
}

/** Calls `tell` some time after tools have changed. Returns the function that stops it. */
export function onToolNews(host: Host, tell: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const stop = host.onToolsChanged(() => {
    timer ??= setTimeout(() => {
      timer = undefined;
      tell();
    }, NEWS_DELAY_MS);
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}

function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'base64');
}
