import { randomBytes } from 'node:crypto';

/** Requesting eight bytes from the platform takes longer than taking them from a larger supply. */
const SUPPLY_BYTES = 4_096;

let supply = Buffer.alloc(0);
let used = 0;

/** Random bytes, good for keys and nonces. No byte is given out twice. */
export function takeRandom(bytes: number): Buffer {
  if (used + bytes > supply.length) {
    supply = randomBytes(Math.max(SUPPLY_BYTES, bytes));
    used = 0;
  }
  used += bytes;
  return supply.subarray(used - bytes, used);
}
