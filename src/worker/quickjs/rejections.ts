import type { QuickJsExports } from './engine.js';

/** Unhandled rejections: part of a program's state outside its memory, so plain data. */
export interface Rejections {
  unhandledCount: number;
  /** The first few: the promise's identity, its handle and the handle of its reason. */
  unhandled: { identity: number; promise: number; reason: number }[];
}

const MAX_UNHANDLED_KEPT = 16;

/** The engine reports a promise that is rejected without a handler, and reports it again when it gets one. Owns both handles. */
export function noteRejection(
  rejections: Rejections,
  exports: QuickJsExports,
  { promise, reason, isHandled }: { promise: number; reason: number; isHandled: boolean },
): void {
  const identity = exports.qjs_get_value_ptr(promise);
  const { unhandled } = rejections;
  if (!isHandled) {
    rejections.unhandledCount++;
    if (unhandled.length < MAX_UNHANDLED_KEPT) {
      unhandled.push({ identity, promise, reason });
      return;
    }
  } else {
    rejections.unhandledCount = Math.max(0, rejections.unhandledCount - 1);
    const index = unhandled.findIndex((each) => each.identity === identity);
    const [kept] = index < 0 ? [] : unhandled.splice(index, 1);
    if (kept !== undefined) {
      exports.qjs_free_value(kept.promise);
      exports.qjs_free_value(kept.reason);
    }
  }
  exports.qjs_free_value(promise);
  exports.qjs_free_value(reason);
}
