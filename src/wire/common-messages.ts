import { MAX_CLOCK_TICKS } from '../domain/limits.js';
import type { WorkerToHost } from './messages.js';

/**
 * Reads the most frequent messages by hand: the schemas take 10 to 30 µs per message, this takes less than one. Any other value
 * is left to the schemas, which also produce the error messages. A test holds both to the same verdict.
 */
export function commonMessage(value: unknown): WorkerToHost | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const message = value as Record<string, unknown>;
  return isId(message.execution) && isUsual(message, Object.keys(message).length)
    ? (message as unknown as WorkerToHost)
    : undefined;
}

function isUsual(message: Record<string, unknown>, fields: number): boolean {
  switch (message.type) {
    case 'call/request':
      return fields === 4 && isCount(message.call, 1, 2 ** 31) && isText(message.target, 1_024);
    case 'clock/read':
      return fields === 4 && isCount(message.reads, 0, Number.MAX_SAFE_INTEGER) && isTicks(message.ticks);
    case 'execution/waiting':
      return fields === 4 && (message.wakeAtMs === null || isClock(message.wakeAtMs)) && isUsage(message.usage);
    case 'execution/end':
      return fields === 5 && message.failure === null && typeof message.logsCut === 'boolean' && isUsage(message.usage);
    default:
      return false;
  }
}

function isTicks(value: unknown): boolean {
  if (!Array.isArray(value) || value.length > 2 * MAX_CLOCK_TICKS) return false;
  return value.every((number) => isCount(number, 0, Number.MAX_SAFE_INTEGER));
}

function isUsage(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 2) return false;
  const { cpuMs, memoryBytes } = value as Record<string, unknown>;
  return isClock(cpuMs) && isCount(memoryBytes, 0, Number.MAX_SAFE_INTEGER);
}

function isId(value: unknown): boolean {
  return isText(value, 64) && value !== '';
}

function isText(value: unknown, most: number): boolean {
  return typeof value === 'string' && value.length <= most;
}

function isCount(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

function isClock(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}
