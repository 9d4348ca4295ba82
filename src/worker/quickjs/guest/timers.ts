import { host } from './host.js';

/**
 * Timers are in the program's own memory; the worker only learns when the next one is due. So a flood of timers costs only the
 * program that creates it, and a suspended program keeps its timers.
 */
interface Timer {
  readonly id: number;
  readonly dueMs: number;
  readonly run: () => void;
}

const MAX_DELAY_MS = 2 ** 31 - 1;
const now = Date.now;
const apply = Reflect.apply;
const floor = Math.floor;

/**
 * A binary heap with the timer that is due first at 0. Not an array: a program may put setters on `Array.prototype`, and splicing
 * ten thousand timers out of an array one by one took seconds.
 */
const heap: Record<number, Timer> = Object.create(null);
let size = 0;
/** Timers that were cleared before they were due; dropped when they reach the top. */
const cleared: Record<number, true> = Object.create(null);
const waiting: Record<number, true> = Object.create(null);
let lastId = 0;

export function setTimeout(callback: unknown, delayMs?: unknown, ...input: unknown[]): number {
  if (typeof callback !== 'function') {
    throw new TypeError('setTimeout needs a function as its first argument; text is never evaluated');
  }
  const wanted = Number(delayMs);
  const delay = wanted >= 1 && wanted <= MAX_DELAY_MS ? floor(wanted) : 1;
  const id = ++lastId;
  waiting[id] = true;
  push({ id, dueMs: now() + delay, run: () => apply(callback, undefined, input) });
  if (heap[0]?.id === id) announce();
  return id;
}

export function clearTimeout(id?: unknown): void {
  if (typeof id !== 'number' || waiting[id] === undefined) return;
  cleared[id] = true;
  if (heap[0]?.id === id) announce();
}

/** The number of the last timer that was set. */
export function lastTimer(): number {
  return lastId;
}

/** The latest timer that has not fired yet, or 0. */
export function newestTimer(): number {
  let newest = 0;
  for (let at = 0; at < size; at++) {
    const { id } = heap[at] as Timer;
    if (id > newest && cleared[id] === undefined) newest = id;
  }
  return newest;
}

/** Runs the first timer that is due at `byMs` and returns whether it ran one: the worker settles promises between two timers. */
export function fireNext(byMs: number): boolean {
  dropCleared();
  const first = heap[0];
  if (first === undefined || first.dueMs > byMs) return false;
  pop();
  announce();
  first.run();
  return true;
}

function announce(): void {
  dropCleared();
  host.wake(heap[0]?.dueMs ?? -1);
}

function dropCleared(): void {
  for (let first = heap[0]; first !== undefined && cleared[first.id] !== undefined; first = heap[0]) pop();
}

function isBefore(left: Timer, right: Timer): boolean {
  return left.dueMs < right.dueMs || (left.dueMs === right.dueMs && left.id < right.id);
}

function push(timer: Timer): void {
  let at = size++;
  for (let parent = (at - 1) >> 1; at > 0 && isBefore(timer, heap[parent] as Timer); parent = (at - 1) >> 1) {
    heap[at] = heap[parent] as Timer;
    at = parent;
  }
  heap[at] = timer;
}

function pop(): void {
  const { id } = heap[0] as Timer;
  delete waiting[id];
  delete cleared[id];
  const last = heap[--size] as Timer;
  delete heap[size];
  if (size === 0) return;
  let at = 0;
  for (let child = 1; child < size; child = 2 * at + 1) {
    const right = heap[child + 1];
    if (right !== undefined && isBefore(right, heap[child] as Timer)) child++;
    if (!isBefore(heap[child] as Timer, last)) break;
    heap[at] = heap[child] as Timer;
    at = child;
  }
  heap[at] = last;
}
