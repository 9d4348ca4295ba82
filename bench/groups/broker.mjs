// @ts-check
// What is between a call and its server, without the sandbox and without a server: the whole pipeline of the broker,
// with the record on disk and without it, by turns in one process.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ECHO_SCHEMA, openBroker, openTrail } from '../broker.mjs';
import { processorMs } from '../machine.mjs';
import { loadProduct } from '../product.mjs';
import { scaled, summarize } from '../stats.mjs';

const CALLS = 1_000;

export async function measure({ quick }) {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-bench-'));
  const trail = await openTrail(folder);
  try {
    const [plain, recorded] = [await brokerCalls(), await brokerCalls(trail)];
    /** @type {Record<'plain' | 'recorded' | 'plainSpent' | 'recordedSpent', number[]>} */
    const samples = { plain: [], recorded: [], plainSpent: [], recordedSpent: [] };
    for (let round = -3; round < scaled(40, quick); round++) {
      const first = await timed(plain);
      const second = await timed(recorded);
      if (round < 0) continue;
      samples.plain.push(first.us);
      samples.plainSpent.push(first.spentUs);
      samples.recorded.push(second.us - first.us);
      samples.recordedSpent.push(second.spentUs - first.spentUs);
    }
    return [
      row('pipeline of the broker, a call, without the record', samples.plain, samples.plainSpent),
      row('the record of a call on disk, beside that', samples.recorded, samples.recordedSpent, { p50: 50 }),
    ];
  } finally {
    await trail.close();
    trail.database.close();
    rmSync(folder, { recursive: true });
  }
}

function row(name, samples, spent, goal) {
  const { p50, p95 } = summarize(samples);
  const note = `${summarize(spent).p50.toFixed(1)} us of CPU time each, 1,000 one after the other`;
  return { name, unit: 'us', p50, p95, ...(goal && { goal }), note };
}

async function timed(calls) {
  const spentBefore = processorMs([process.pid]);
  const start = performance.now();
  await calls();
  const us = ((performance.now() - start) * 1_000) / CALLS;
  return { us, spentUs: ((processorMs([process.pid]) - spentBefore) * 1_000) / CALLS };
}

async function brokerCalls(audit) {
  const { openRunContext } = await loadProduct();
  const broker = await openBroker(audit);
  const tool = { serverId: 'bench', name: 'echo', inputSchema: ECHO_SCHEMA };
  const run = openRunContext('bench', 'bench', 'bench', 'source');
  const { signal } = new AbortController();
  return async () => {
    for (let number = 0; number < CALLS; number++) {
      const input = { n: number };
      const outcome = await broker.handle({
        run,
        number,
        tool,
        serverPath: 'bench',
        exportName: 'echo',
        input,
        signal,
      });
      if (!outcome.ok) throw new Error(`a call failed: ${outcome.error.message}`);
    }
  };
}
