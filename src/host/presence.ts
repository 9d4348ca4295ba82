import { visibleLine } from '../lib/text/visible-text.js';
import type { KnownClient, PresenceStore, PresentRun } from '../store/presence.js';
import type { LiveRun } from './runs/live-runs.js';

export interface PresenceOptions {
  /** Opened when there is something to write. */
  readonly store: () => Promise<PresenceStore>;
  /** The line by which a person recognises a program, redacted. */
  readonly titleOf: (source: string) => string;
  readonly redact: (text: string) => string;
}

/** A client as it introduced itself. The text is untrusted. */
export interface SeenClient extends Pick<KnownClient, 'name' | 'version' | 'transport' | 'caller'> {}

/** Shorter runs are only recorded when they end, so most runs cost no extra write. */
const TELL_AFTER_MS = 400;
const LOOK_EVERY_MS = 400;
/** How often a client's last-seen time is written. */
const SEEN_EVERY_MS = 60_000;
const MAX_NAME_CHARACTERS = 100;
const MAX_CLIENTS = 100;
const MAX_LISTED = 100;

/**
 * Tells the other hosts of the state folder about this host's in-flight runs and connected clients. Cancels runs that another
 * process has asked to cancel. A run never fails because the store cannot be written.
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

  /** Removed with the next poll. By then its end is recorded, so other hosts always see one of the two. */
  runEnded(runId: string): void {
    this.#runs.delete(runId);
  }

  /** In-flight runs of a caller on other hosts, newest first. */
  async elsewhere(caller: string): Promise<PresentRun[]> {
    const runs = await (await this.#options.store()).runs(MAX_LISTED, caller);
    return runs.filter(({ runId }) => !this.#told.has(runId));
  }

  /** An in-flight run of any host. */
  async find(runId: string): Promise<PresentRun | undefined> {
    return (await this.#options.store()).find(runId);
  }

  /** The run's host cancels it within a second. */
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
    // After the pending response is written: a client does not wait for this.
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
        ({ runId, createdAtMs }) => !this.#told.has(runId) && nowMs - createdAtMs >= TELL_AFTER_MS,
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
      // The disk may be full or the file busy: the next poll tries again.
    } finally {
      this.#isLooking = false;
      if (this.#runs.size === 0 && this.#told.size === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
    }
  }

  #present({ runId, caller, profile, createdAtMs, source }: LiveRun): PresentRun {
    const { titleOf, redact } = this.#options;
    return {
      runId,
      caller,
      profile,
      createdAtMs,
      title: titleOf(source),
      source: redact(source),
    };
  }
}
