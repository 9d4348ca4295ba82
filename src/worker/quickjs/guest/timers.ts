import { host } from './host.js';

/**
 * Timers live in the program's own memory; the worker only hears when the next one is due. So a storm of timers
 * costs the program that makes it, and a suspended program takes its timers along.
 */
interface Timer {
  readonly id: number;
  readonly dueMs: number;
  readonly run: () => void;
}

const MAX_DELAY_MS = 2 ** 31 - 1;
const now = Date.now;
const apply = Reflect.apply;
const spliceArray = Array.prototype.splice;
const floor = Math.floor;

/** Ordered by the time they are due, then by age. */
const timers: Timer[] = [];
let lastId = 0;

export function setTimeout(callback: unknown, delayMs?: unknown, ...input: unknown[]): number {
  if (typeof callback !== 'function') {
    throw new TypeError('setTimeout needs a function as its first argument; text is never evaluated');
  }
  const wanted = Number(delayMs);
  const delay = wanted >= 1 && wanted <= MAX_DELAY_MS ? floor(wanted) : 1;
  const id = ++lastId;
  insert({ id, dueMs: now() + delay, run: () => apply(callback, undefined, input) });
  if (timers[0]?.id === id) announce();
  return id;
}

export function clearTimeout(id?: unknown): void {
  for (let index = 0; index < timers.length; index++) {
    if (timers[index]?.id !== id) continue;
    apply(spliceArray, timers, [index, 1]);
    if (index === 0) announce();
    return;
  }
}

/** Runs the first timer that is due and says whether it ran one: the worker settles promises between two of them. */
export function fireNext(): boolean {
  const first = timers[0];
  if (first === undefined || first.dueMs > now()) return false;
  apply(spliceArray, timers, [0, 1]);
  announce();
  first.run();
  return true;
}

function insert(timer: Timer): void {
  let low = 0;
  let high = timers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((timers[middle] as Timer).dueMs <= timer.dueMs) low = middle + 1;
    else high = middle;
  }
  apply(spliceArray, timers, [low, 0, timer]);
}

function announce(): void {
  host.wake(timers[0]?.dueMs ?? -1);
}
