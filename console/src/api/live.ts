import { CONSOLE_API, CONSOLE_KEY_HEADER, CONSOLE_ROUTES } from '../../../src/domain/console/api.js';
import type { ConsoleEvent } from '../../../src/domain/console/events.js';
import { omitUndefined } from '../../../src/lib/omit-undefined.js';
import { createStore } from '../lib/store.js';
import { loadSession } from './session.js';
import { readKey, writeKey } from './session-key.js';
import { endSession } from './session-state.js';

export type LinkState = 'connecting' | 'live' | 'lost';

/** Whether the page receives changes. */
export const link = createStore<LinkState>('connecting');
export const pendingApprovals = createStore(0);

const FIRST_DELAY_MS = 300;
const MAX_DELAY_MS = 5_000;

const listeners = new Set<(event: ConsoleEvent) => void>();

export function onEvent(listener: (event: ConsoleEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Follows the event stream until `signal` is aborted, and reconnects after every loss. */
export async function followEvents(signal: AbortSignal): Promise<void> {
  let delayMs = FIRST_DELAY_MS;
  let lastId: string | undefined;
  while (!signal.aborted) {
    try {
      const response = await openStream(lastId, signal);
      if (response.status === 401) {
        endSession('This session has ended. Get a new link with: codemode console');
        return;
      }
      if (!response.ok || response.body === null) throw new Error(`HTTP status ${response.status}`);
      delayMs = FIRST_DELAY_MS;
      // It may be another host now, with another clock or build.
      if (link.get() === 'lost') await loadSession();
      link.set('live');
      for await (const { id, data } of readEvents(response.body)) {
        lastId = id ?? lastId;
        if (data !== '') deliver(JSON.parse(data) as ConsoleEvent);
      }
    } catch {
      // Whatever the error, the stream is lost: handled below.
    }
    if (signal.aborted) return;
    link.set('lost');
    await delay(delayMs, signal);
    delayMs = Math.min(MAX_DELAY_MS, delayMs * 2);
  }
}

function openStream(lastId: string | undefined, signal: AbortSignal): Promise<Response> {
  const key = readKey();
  return fetch(`${CONSOLE_API}${CONSOLE_ROUTES.events.split(' ')[1]}`, {
    credentials: 'same-origin',
    cache: 'no-store',
    signal,
    headers: {
      accept: 'text/event-stream',
      ...omitUndefined({ [CONSOLE_KEY_HEADER]: key, 'last-event-id': lastId }),
    },
  });
}

function deliver(event: ConsoleEvent): void {
  if (event.type === 'session_ended') endSession(event.message);
  if (event.type === 'host_stops') {
    // The session ends with its host. The next listener at this address must not get the key.
    writeKey(undefined);
    endSession(
      'The host was stopped, and the session ended with it. Close this page, start the host again, and open its new link.',
    );
  }
  if (event.type === 'approvals') pendingApprovals.set(event.pending);
  for (const listener of [...listeners]) listener(event);
}

async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<{ id?: string; data: string }> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split(/\r?\n/);
      const fieldsNamed = (name: string) => lines.filter((line) => line.startsWith(`${name}:`));
      const data = fieldsNamed('data').map((line) => line.slice(5).trimStart());
      const id = fieldsNamed('id')[0]?.slice(3).trim();
      yield { ...omitUndefined({ id }), data: data.join('\n') };
    }
  }
}

function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = new AbortController();
    const end = () => {
      stop.abort();
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { signal: stop.signal });
    addEventListener('online', end, { signal: stop.signal });
  });
}
