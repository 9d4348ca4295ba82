/** A seeded `Math.random` (sfc32): a replay gets the same numbers. `crypto` stays the machine's own. */
export function seededRandom(seed: number): () => number {
  let [a, b, c, d] = [seed | 0, 0x9e3779b9, 0x243f6a88, 1];
  const next = (): number => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return sum >>> 0;
  };
  for (let round = 0; round < 12; round++) next();
  // 53 bits, as in V8.
  return function random() {
    return ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53;
  };
}
