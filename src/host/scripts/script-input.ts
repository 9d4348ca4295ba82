import { ToolChecker } from '../../broker/arguments/tool-checker.js';
import { exampleInput } from '../../catalog/examples.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { GuestError } from '../../domain/run.js';
import type { ScriptHead } from '../../domain/script.js';

/** The input is sent with the program's modules, which a worker keeps for a while. */
export const MAX_INPUT_BYTES = 1024 * 1024;

export type CheckedInput =
  | { readonly ok: true; readonly input: JsonObject }
  | { readonly ok: false; readonly error: GuestError };

/** Whether a script accepts this input. No input means `{}`. */
export function checkScriptInput({ name, inputSchema }: ScriptHead, input: JsonValue | undefined): CheckedInput {
  if (input !== undefined && !isJsonObject(input)) {
    const received = Array.isArray(input) ? 'an array' : input === null ? 'null' : `a ${typeof input}`;
    return refused(
      `Invalid input for ${name}: expected an object, received ${received}.`,
      'Pass one object with named properties.',
    );
  }
  const given = input ?? {};
  const bytes = Buffer.byteLength(JSON.stringify(given));
  if (bytes > MAX_INPUT_BYTES)
    return refused(
      `Invalid input for ${name}: it is ${bytes} bytes of JSON, and ${MAX_INPUT_BYTES} are the most.`,
      'Let the script fetch the data itself.',
    );
  if (inputSchema === undefined) return { ok: true, input: given };
  const verdict = CHECKER.checkArguments(asTool(name, inputSchema), name, given);
  return verdict.ok ? { ok: true, input: given } : verdict;
}

/** The parts of a schema that are not enforced, and why. */
export function schemaWarnings(name: string, inputSchema: JsonObject): readonly string[] {
  return CHECKER.warningsOf(asTool(name, inputSchema));
}

/** Caches by schema identity without keeping schemas alive. */
const CHECKER = new ToolChecker(exampleInput);

function asTool(name: string, inputSchema: JsonObject) {
  return { serverId: '@codemode/scripts', name, inputSchema };
}

function refused(message: string, hint: string): CheckedInput {
  return { ok: false, error: { errorClass: 'SchemaValidationError', message, hint, fields: { path: '' } } };
}
