import { textDataOf } from '../../catalog/observed/text-data.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';

/** The arguments and the answer of a call. */
export interface MadeAndAnswered {
  readonly arguments: JsonValue;
  readonly result: JsonValue;
}

/** `$result.issue.number`, `$arguments.repo`, `$result`; a leading `$$` is a dollar sign. */
const REFERENCE = /^\$(result|arguments)(?:\.(.+))?$/s;
const MAX_DEPTH = 20;

/** The arguments of an inverse call, or the part of the original call that is missing. */
export function inverseArguments(
  template: JsonObject,
  call: MadeAndAnswered,
): { readonly arguments: JsonObject } | { readonly missing: string } {
  let missing: string | undefined;
  const filled = (value: JsonValue, depth: number): JsonValue => {
    if (typeof value === 'string') {
      if (value.startsWith('$$')) return value.slice(1);
      const [, root, path] = REFERENCE.exec(value) ?? [];
      if (root === undefined) return value;
      const found = root === 'result' ? partOfAnswer(call.result, path) : partOf(call.arguments, path);
      if (found === undefined || isRounded(found)) missing ??= value;
      return found ?? null;
    }
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
    if (Array.isArray(value)) return value.map((each) => filled(each, depth + 1));
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filled(each, depth + 1)]));
  };
  const result = filled(template, 0) as JsonObject;
  return missing === undefined ? { arguments: result } : { missing };
}

/** Most servers answer with text, and the part is in the data of that text. */
function partOfAnswer(answer: JsonValue, path: string | undefined): JsonValue | undefined {
  const found = partOf(answer, path);
  if (found !== undefined) return found;
  const text = textOf(answer);
  const { kind, value } = text === undefined ? { kind: undefined, value: undefined } : textDataOf(text);
  // Of the other kinds only the names are read exactly.
  return value !== undefined && (kind === 'j' || kind === 'h') ? partOf(value, path) : undefined;
}

/** The text of an answer: the answer itself, or the only block of a whole MCP result. */
function textOf(answer: JsonValue): string | undefined {
  if (typeof answer === 'string') return answer;
  const blocks = isJsonObject(answer) && Array.isArray(answer.content) ? answer.content : [];
  const [block = null] = blocks;
  return blocks.length === 1 && isJsonObject(block) && typeof block.text === 'string' ? block.text : undefined;
}

/** An integer that JavaScript may have rounded is the number of something else. */
function isRounded(found: JsonValue): boolean {
  return typeof found === 'number' && Number.isInteger(found) && !Number.isSafeInteger(found);
}

/** Own properties only: inherited properties are not part of an answer. */
function partOf(value: JsonValue, path: string | undefined): JsonValue | undefined {
  let found: JsonValue | undefined = value;
  for (const step of path === undefined ? [] : path.split('.')) {
    if (Array.isArray(found)) found = /^\d{1,9}$/.test(step) ? found[Number(step)] : undefined;
    else if (found !== undefined && isJsonObject(found) && Object.hasOwn(found, step)) found = found[step];
    else return undefined;
  }
  return found;
}
