import { randomBytes } from 'node:crypto';

/** Asking the platform for eight bytes takes longer than taking them out of what was asked for at once. */
const SUPPLY_BYTES = 4_096;

let supply = Buffer.alloc(0);
let used = 0;

/** Random bytes, good for keys and nonces. None is given out twice. */
export function takeRandom(bytes: number): Buffer {
  if (used + bytes > supply.length) {
    supply = randomBytes(Math.max(SUPPLY_BYTES, bytes));
    used = 0;
  }
  used += bytes;
  return supply.subarray(used - bytes, used);
}
