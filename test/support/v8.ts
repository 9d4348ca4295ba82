import type { Journal } from '../../src/sandbox/journal/journal.js';

/** The same journal for a run that was in V8 from its beginning. */
export function inV8(journal: Journal): Journal {
  const { startedAtMs, deliveries } = journal;
  return { ...journal, deliveries: [{ kind: 'engine', atMs: startedAtMs, engine: 'v8' }, ...deliveries] };
}
