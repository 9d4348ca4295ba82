// @ts-check
// What a host holds at a quiet moment, and whether it has grown.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

const MEGABYTE = 1024 * 1024;

/**
 * What may be more than at the end of the warm-up. Each is far above what a quiet moment differs from the next, and far
 * below what a leak of one in a thousand runs comes to in 100,000.
 */
export const BOUNDS = {
  heapMb: 32,
  residentMb: 256,
  descriptors: 40,
  processes: 12,
  temporaryFiles: 20,
  stateFiles: 20,
};
/** So many looks in a row over its bound are growth. One is a worker that was just leaving. */
const LOOKS_IN_A_ROW = 3;
const WARM_UP_LOOKS = 3;
const WARM_UP_RUNS = 20_000;
/** Above what the machine itself does to an idle process beside the host, by this factor, it is the host's own pause. */
const OWN_PAUSE = 3;

/** @typedef {Record<string, number>} Look */

/**
 * @param {Awaited<ReturnType<typeof import('../load/serve.mjs').startServe>>} serve
 * @param {import('./client.mjs').SoakClient} client
 * @param {ReturnType<typeof openIdleThread>} idle
 * @returns {Promise<Look>}
 */
export async function look(serve, client, idle) {
  const token = serve.tokens[0] ?? '';
  const seconds = /^codemode_nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await client.metrics(token))?.[1];
  const idlePauseMs = await idle.longestPauseMs();
  const heap = await serve.inspector.heapBytes();
  // The collections above were pauses of our own making: this starts a new account of them.
  await client.metrics(token);
  const { hostBytes, treeBytes, descriptors, processes } = serve.measure();
  const state = filesIn(serve.stateFolder);
  return {
    heapMb: heap / MEGABYTE,
    residentMb: hostBytes / MEGABYTE,
    treeMb: treeBytes / MEGABYTE,
    descriptors,
    processes,
    temporaryFiles: filesIn(serve.temporaryFolder).count,
    stateFiles: state.count,
    stateMb: state.bytes / MEGABYTE,
    pauseMs: Number(seconds ?? 0) * 1_000,
    idlePauseMs,
  };
}

/** Tells growth from noise, over the looks of one host. */
export class Growth {
  /** @type {Record<string, number>} */
  #highest = {};
  /** @type {Record<string, number>} */
  #inARow = {};
  #looks = 0;
  #isWarm = false;

  /** Caches are full, every caller was there. */
  get isWarm() {
    return this.#isWarm;
  }

  #warmUpRuns;

  /** @param {number} runs that are to be made */
  constructor(runs) {
    this.#warmUpRuns = Math.min(WARM_UP_RUNS, runs / 4);
  }

  /**
   * @param {Look} seen @param {number} runs of this host until now
   * @param {{ isLast?: boolean }} [options] the last look is not followed by others: being over once is enough
   * @returns {string[]} what is wrong
   */
  add(seen, runs, { isLast = false } = {}) {
    const wrong = [];
    this.#looks += 1;
    for (const [name, bound] of Object.entries(BOUNDS)) {
      const value = seen[name] ?? 0;
      const highest = this.#highest[name] ?? 0;
      if (!this.#isWarm) {
        this.#highest[name] = Math.max(highest, value);
        continue;
      }
      this.#inARow[name] = value > highest + bound ? (this.#inARow[name] ?? 0) + 1 : 0;
      if ((this.#inARow[name] ?? 0) >= (isLast ? 1 : LOOKS_IN_A_ROW))
        wrong.push(`${name} has grown from ${round(highest)} to ${round(value)}; ${bound} more are allowed`);
    }
    if (this.#looks >= WARM_UP_LOOKS && runs >= this.#warmUpRuns) this.#isWarm = true;
    return wrong;
  }
}

/**
 * How long the event loop was blocked by the host itself.
 *
 * @param {Look} seen
 */
export function ownPauseMs({ pauseMs = 0, idlePauseMs = 0 }) {
  return pauseMs > idlePauseMs * OWN_PAUSE ? pauseMs : 0;
}

/** A thread that does nothing: when it is late, the machine is busy. */
export function openIdleThread() {
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads');
     const delay = require('node:perf_hooks').monitorEventLoopDelay();
     delay.enable();
     parentPort.on('message', () => { parentPort.postMessage(delay.max / 1e6); delay.reset(); });`,
    { eval: true },
  );
  worker.unref();
  return {
    /** Since it was last asked. @returns {Promise<number>} */
    longestPauseMs: () =>
      new Promise((resolve) => {
        worker.once('message', resolve);
        worker.postMessage('now');
      }),
    close: () => worker.terminate(),
  };
}

/** @param {string} folder */
export function filesIn(folder) {
  let [count, bytes] = [0, 0];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    count += 1;
    if (entry.isFile()) bytes += sizeOf(join(entry.parentPath, entry.name));
  }
  return { count, bytes };
}

function sizeOf(file) {
  try {
    return statSync(file).size;
  } catch {
    return 0; // it was removed meanwhile
  }
}

/** @param {number} value */
export function round(value) {
  return Math.round(value * 10) / 10;
}
