import type { CallNumber } from '../../domain/run.js';
import { MAX_VALUE_BYTES } from '../../wire/messages.js';
import type { Engine } from './engine.js';

const MAX_TARGET_CHARACTERS = 1_024;

/** The arguments that the bindings pass for a call: its number, its target, and the arguments as JSON. */
export function readCall(
  engine: Engine,
  handles: readonly number[],
): { number: CallNumber; target: string; argumentsJson: Buffer } {
  const number = engine.exports.qjs_get_float64(handles[0] as number);
  const target = engine.readText(handles[1] as number).slice(0, MAX_TARGET_CHARACTERS);
  const argumentsJson = engine.readBytes(handles[2] as number);
  if (argumentsJson.byteLength > MAX_VALUE_BYTES) {
    throw new Error(
      `the arguments are ${argumentsJson.byteLength} bytes of JSON; at most ${MAX_VALUE_BYTES} can be sent in one call`,
    );
  }
  return { number, target, argumentsJson };
}
