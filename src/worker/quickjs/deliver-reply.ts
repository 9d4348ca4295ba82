import type { CallNumber } from '../../domain/run.js';
import type { Engine } from './engine.js';
import type { Image } from './image.js';

/** Settles the promise of a call. Returns false if the program threw, or if the reply does not fit into its memory. */
export function deliverReply(engine: Engine, image: Image, call: CallNumber, ok: boolean, json: Uint8Array): boolean {
  const { exports } = engine;
  const value = engine.parseJson(image.context, json);
  if (value === undefined) return false;
  const number = exports.qjs_new_number(call);
  const flag = ok ? exports.qjs_get_true() : exports.qjs_get_false();
  const result = engine.call(image.entry.deliver, [number, flag, value.handle]);
  const succeeded = !engine.isException(result);
  for (const handle of [result, number, flag]) exports.qjs_free_value(handle);
  value.dispose();
  return succeeded;
}
