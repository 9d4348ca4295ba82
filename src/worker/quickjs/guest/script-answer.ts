import { CodemodeError } from './errors.js';
import { parse } from './text/parse.js';

/** What `call_tool` and `call_script` return. */
type ScriptAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: { readonly message: string; readonly code?: string } };

const answers = new WeakSet<object>();
const apply = Reflect.apply;
const assign = Object.assign;
const { add, has } = WeakSet.prototype;

/** A tool's own data may look like an answer: those that calls returned are known by identity. */
export function noteAnswer<Value>(answer: Value): Value {
  if (typeof answer === 'object' && answer !== null) apply(add, answers, [answer]);
  return answer;
}

/** `parse` of a script: as `@codemode/text` has it, and of an answer the data of its result. Throws where the call failed. */
export function parseAnswer(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !(apply(has, answers, [value]) as boolean)) return parse(value);
  const answer = value as ScriptAnswer;
  if (answer.ok) return parse(answer.result);
  const { message, code } = answer.error;
  throw assign(new CodemodeError(message, { hint: '' }), { code });
}
