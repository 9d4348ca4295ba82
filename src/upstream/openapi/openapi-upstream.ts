import { HostError } from '../../domain/errors.js';
import {
  callTimeoutOf,
  type ToolListing,
  type UpstreamCall,
  type UpstreamHealth,
  type UpstreamIdentity,
  type UpstreamOutcome,
  type UpstreamState,
} from '../../domain/upstream.js';
import { LinkedAbort } from '../../lib/async/linked-abort.js';
import { rejectedOnAbort } from '../../lib/async/rejected-on-abort.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { Adapter, AdapterEvent } from '../adapter.js';
import type { Api, ApiDefinition } from './api.js';

/**
 * An HTTP API as an upstream: the operations of its OpenAPI document are its tools. The document, and the code that parses it, is
 * loaded at the first use. If it could not be read, the next use tries again.
 */
export class OpenApiUpstream implements Adapter {
  readonly kind = 'openapi';
  readonly credentialSetting = 'auth';
  readonly id: string;
  readonly #definition: ApiDefinition;
  readonly #closed = new AbortController();
  readonly #listeners = new Set<(event: AdapterEvent) => void>();
  #opening: Promise<Api> | undefined;
  #isListed = false;
  #state: UpstreamState = 'idle';
  #reason: string | undefined;
  #since = new Date();
  #identity: UpstreamIdentity | undefined;
  #warnings: readonly string[] = [];

  constructor(definition: ApiDefinition) {
    this.id = definition.id;
    this.#definition = definition;
  }

  async connect(signal?: AbortSignal): Promise<UpstreamIdentity> {
    return (await this.#open(signal)).identity;
  }

  async listTools(signal?: AbortSignal): Promise<ToolListing> {
    // A repeated listing reads the document again to find changes. The first one uses the document that was read for the first call.
    const api = this.#isListed ? await this.#readAgain(signal) : await this.#open(signal);
    const listing = api.list();
    this.#isListed = true;
    this.#warnings = listing.warnings;
    return listing;
  }

  async call(call: UpstreamCall): Promise<UpstreamOutcome> {
    const waitMs = Math.min(callTimeoutOf(this.#definition, call), MAX_WAIT_MS);
    const patience = AbortSignal.timeout(waitMs);
    const ends = new LinkedAbort([call.signal, patience]);
    try {
      const api = await this.#open(ends.signal);
      return await api.call(call, this.#closed.signal);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = patience.aborted ? `its document was not read within ${waitMs} ms` : reason;
      const kind = call.signal?.aborted === true ? 'cancelled' : 'not_sent';
      return { status: 'failed', failure: { kind, message, mayHaveRun: false } };
    } finally {
      ends.release();
    }
  }

  health(): UpstreamHealth {
    return {
      id: this.id,
      state: this.#state,
      ...omitUndefined({ reason: this.#reason }),
      since: this.#since,
      losses: 0,
      ...omitUndefined({ identity: this.#identity }),
      warnings: this.#warnings,
    };
  }

  onEvent(listener: (event: AdapterEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error('the server was closed'));
    const opened = await this.#opening?.catch(() => undefined);
    await opened?.close();
    this.#enter('closed');
    this.#listeners.clear();
  }

  /** All callers share one read; a caller that stops waiting does not cancel it for the others. */
  async #open(signal: AbortSignal | undefined): Promise<Api> {
    signal?.throwIfAborted();
    if (this.#closed.signal.aborted) throw new HostError('shutting_down', `server ${this.id} was closed`);
    this.#opening ??= this.#read().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return signal === undefined ? this.#opening : Promise.race([this.#opening, rejectedOnAbort(signal)]);
  }

  /** Reads the document again. If it can no longer be read, the previous one stays in use. */
  async #readAgain(signal: AbortSignal | undefined): Promise<Api> {
    const before = await this.#open(signal);
    const late = AbortSignal.timeout(this.#definition.connectTimeoutMs);
    const ends = new LinkedAbort([late, this.#closed.signal, signal]);
    try {
      const { Api } = await import('./api.js');
      const now = await Api.open(this.#definition, ends.signal, before);
      if (now === before) return before;
      this.#opening = Promise.resolve(now);
      this.#identity = now.identity;
      // Its calls in flight are not cancelled.
      before.close('finish').catch(() => {});
      return now;
    } catch {
      signal?.throwIfAborted();
      return before;
    } finally {
      ends.release();
    }
  }

  async #read(): Promise<Api> {
    this.#enter('connecting');
    const late = AbortSignal.timeout(this.#definition.connectTimeoutMs);
    const ends = new LinkedAbort([late, this.#closed.signal]);
    try {
      const { Api } = await import('./api.js');
      const api = await Api.open(this.#definition, ends.signal);
      this.#identity = api.identity;
      this.#enter('ready');
      return api;
    } catch (error) {
      const reason = late.aborted
        ? `its document was not read within ${this.#definition.connectTimeoutMs} ms`
        : error instanceof Error
          ? error.message
          : String(error);
      this.#enter('failed', reason);
      throw new HostError('upstream_unavailable', `server ${JSON.stringify(this.id)} is not available: ${reason}`);
    } finally {
      ends.release();
    }
  }

  #enter(state: UpstreamState, reason?: string): void {
    if (this.#state === 'closed') return;
    this.#state = state;
    this.#reason = reason;
    this.#since = new Date();
    for (const listener of this.#listeners) listener({ type: 'state', health: this.health() });
  }
}

/** The longest delay of a timer: 24 days. */
const MAX_WAIT_MS = 2 ** 31 - 1;
