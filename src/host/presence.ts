import { visibleLine } from '../lib/text/visible-text.js';
import type { KnownClient, PresenceStore, PresentRun } from '../store/presence.js';
import type { LiveRun } from './runs/live-runs.js';

export interface PresenceOptions {
  /** Opened when there is something to tell. */
  readonly store: () => Promise<PresenceStore>;
  /** The line by which a person knows a program again, without its secrets. */
  readonly titleOf: (source: string) => string;
  readonly redact: (text: string) => string;
}

/** A client as it introduced itself: anything may be in it. */
export interface SeenClient extends Pick<KnownClient, 'name' | 'version' | 'transport' | 'caller'> {}

/** Runs that are over sooner are told of by their end: most runs never cost a write of their own. */
const TELL_AFTER_MS = 400;
const LOOK_EVERY_MS = 400;
/** How often it is written that a client is still there. */
const SEEN_EVERY_MS = 60_000;
const MAX_NAME_CHARACTERS = 100;
const MAX_CLIENTS = 100;
const MAX_LISTED = 100;

/**
 * Tells the other hosts of the state folder what this one does now: runs under way, and the clients that connected. Cancels runs
 * that somebody has asked to cancel there. A store that cannot be written is no reason for a run to fail.
 */
export class Presence {
  readonly #options: PresenceOptions;
  readonly #runs = new Map<string, LiveRun>();
  readonly #told = new Set<string>();
  readonly #clients = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  runBegan(run: LiveRun): void {
    this.#runs.set(run.runId, run);
    this.#timer ??= setInterval(() => void this.#look(), LOOK_EVERY_MS).unref();
  }

  /** Told of with the next look: until then its end is recorded, so other hosts always see one of the two. */
  runEnded(runId: string): void {
    this.#runs.delete(runId);
  }

  /** Runs of a caller that are under way on other hosts, the newest first. */
  async elsewhere(caller: string): Promise<PresentRun[]> {
    const runs = await (await this.#options.store()).runs(MAX_LISTED, caller);
    return runs.filter(({ runId }) => !this.#told.has(runId));
  }

  /** A run of any host that is under way. */
  async find(runId: string): Promise<PresentRun | undefined> {
    return (await this.#options.store()).find(runId);
  }

  /** Its host cancels it within a second. */
  async askToCancel(runId: string): Promise<void> {
    await (await this.#options.store()).askToCancel(runId);
  }

  clientSeen({ name, version, transport, caller }: SeenClient): void {
    const key = `${transport} ${name}`;
    const nowMs = Date.now();
    if (nowMs - (this.#clients.get(key) ?? 0) < SEEN_EVERY_MS) return;
    if (this.#clients.size >= MAX_CLIENTS) this.#clients.clear();
    this.#clients.set(key, nowMs);
    const short = (text: string) => visibleLine(text).slice(0, MAX_NAME_CHARACTERS);
    const client = { name: short(name), version: short(version), transport, caller };
    // After the answer that is being written: a client does not wait for this.
    setTimeout(() => {
      this.#options
        .store()
        .then((store) => store.clientSeen(client, nowMs))
        .catch(() => {});
    }, TELL_AFTER_MS).unref();
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const nowMs = Date.now();
      const begun = [...this.#runs.values()].filter(
        ({ runId, startedAtMs }) => !this.#told.has(runId) && nowMs - startedAtMs >= TELL_AFTER_MS,
      );
      const over = [...this.#told].filter((runId) => !this.#runs.has(runId));
      if (begun.length + over.length + this.#told.size === 0) return;
      const store = await this.#options.store();
      if (begun.length + over.length > 0)
        await store.update(
          begun.map((run) => this.#present(run)),
          over,
        );
      for (const { runId } of begun) this.#told.add(runId);
      for (const runId of over) this.#told.delete(runId);
      for (const runId of await store.cancelled()) this.#runs.get(runId)?.cancel();
    } catch {
      // The disk may be full or the file busy: the next look tries again.
    } finally {
      this.#isLooking = false;
      if (this.#runs.size === 0 && this.#told.size === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
    }
  }

  #present({ runId, caller, profile, startedAtMs, source }: LiveRun): PresentRun {
    const { titleOf, redact } = this.#options;
    return {
      runId,
      caller,
      profile,
      startedAtMs,
      title: titleOf(source),
      source: redact(source),
    };
  }
}
