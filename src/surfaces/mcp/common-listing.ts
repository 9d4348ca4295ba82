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
import { promptTexts } from '../../profiles/prompt-texts.js';
import { type ExposedScripts, scriptTools } from './exposed-scripts.js';
import { FIRST_LISTING_MS, FirstListing } from './first-listing.js';

/** Servers start one after the other: their changes are announced together. */
const NEWS_DELAY_MS = 100;

export interface ListingOptions {
  readonly profile: Profile;
  readonly codeMode: CodeModeSettings;
  /** How long to wait for servers that are starting, if configured. */
  readonly firstListingMs?: number;
  readonly host: Host;
  readonly exposedScripts?: ExposedScripts;
  readonly log: Log;
}

/** Digests of what a client sees. They differ if something visible differs. */
export interface ListingDigests {
  readonly tools: string;
  readonly resources: string;
}

/** The state that the listings of all clients of a surface share. Each client's own view is not part of it. */
export class CommonListing {
  /** The stored scripts that are currently exposed as tools. */
  readonly scriptTools: () => readonly ExposedTool[];
  readonly #first: FirstListing;
  readonly #codeMode: CodeModeSettings;
  readonly #profile: Profile;
  readonly #log: Log;
  /** Callers under the same policy share a snapshot, so it is digested once for all of them. */
  readonly #digests = new WeakMap<CatalogSnapshot, ListingDigests>();
  /** Whether direct tools cost fewer tokens. Computed once for callers that share a snapshot. */
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

  /** Waits for servers that are starting, up to the time limit of each. */
  awaitServers(session: Session): Promise<void> {
    return this.#first.wait(session);
  }

  /** Undefined if every tool is listed directly. */
  profileFor({ codeMode }: Session): Profile | undefined {
    return codeMode.isCodeMode === false ? undefined : this.#profile;
  }

  /**
   * Under `auto`, chooses whether this client writes programs: not if its tools cost fewer tokens when listed directly. That is
   * unknown while servers are starting. `isLastCall` then decides for programs.
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
      isBelow = breakEvenOf(view, promptTexts(this.#profile, view, session.scripts())).isBelow;
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

  /**
   * A misspelt exclusion leaves a tool callable from code although the user meant to exclude it. Warns once, when all servers are
   * known.
   */
  warnOfExclusions(view: ToolView): void {
    if (this.#hasWarned) return;
    const unmatched = unmatchedExclusions(view, this.#codeMode.excludedTools);
    if (unmatched === undefined) return;
    this.#hasWarned = true;
    if (unmatched.length > 0)
      this.#log(`codeMode.excludedTools: no tool of the connected servers is named ${unmatched.join(', ')}`, 'warn');
  }
}

/** Calls `tell` shortly after tools have changed. Returns the function that unsubscribes. */
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
