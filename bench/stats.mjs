// @ts-check

/** @param {readonly number[]} samples */
export function summarize(samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return {
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    mean: samples.reduce((sum, each) => sum + each, 0) / samples.length,
  };
}

/**
 * Times an operation again and again, one after the other, in milliseconds.
 *
 * @param {number} count
 * @param {() => Promise<unknown>} operation
 */
export async function timeEach(count, operation) {
  const samples = [];
  for (let done = 0; done < count; done++) {
    const start = performance.now();
    await operation();
    samples.push(performance.now() - start);
  }
  return summarize(samples);
}

/**
 * Keeps `width` operations in progress until `count` are done. Each latency includes the wait behind the others.
 *
 * @param {number} count
 * @param {number} width
 * @param {(lane: number) => Promise<unknown>} operation
 */
export async function timeConcurrent(count, width, operation) {
  let left = count;
  const samples = [];
  const start = performance.now();
  const work = async (_, lane) => {
    while (left-- > 0) {
      const begun = performance.now();
      await operation(lane);
      samples.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  return { ...summarize(samples), perSecond: (count / (performance.now() - start)) * 1_000 };
}

/**
 * For operations that say themselves how long the part took that counts.
 *
 * @param {number} count
 * @param {() => Promise<number>} operation
 */
export async function collect(count, operation) {
  const samples = [];
  for (let done = 0; done < count; done++) samples.push(await operation());
  return summarize(samples);
}

/** A share of the usual number of samples, at least two. */
export function scaled(count, quick) {
  return quick ? Math.max(2, Math.round(count / 10)) : count;
}
