import { nodeServer } from './program.js';
import { fixture } from './upstreams.js';

/** `slow-server.mjs`, as a configuration has it. */
export function slow(...options: string[]) {
  return nodeServer(fixture('slow-server.mjs'), ...options);
}

/** A server that never says anything. */
export function hung() {
  return slow('--hang');
}

/** What something gives, and how long it took. */
export async function timed<Value>(work: Promise<Value>): Promise<{ readonly value: Value; readonly ms: number }> {
  const startedAt = performance.now();
  const value = await work;
  return { value, ms: performance.now() - startedAt };
}
