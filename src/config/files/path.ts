import type { JsonValue } from '../../domain/json.js';
import { isSecretName } from '../../lib/secrets/mask.js';

/** The path from the top of a configuration to one value. */
export type KeyPath = readonly (string | number)[];

/** `mcpServers.files.args[0]`, as people write it. */
export function renderPath(path: KeyPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[\w$-]+$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

/** The value at a path, or undefined. Own properties only. */
export function valueAt(value: JsonValue | undefined, path: KeyPath): JsonValue | undefined {
  let current: JsonValue | undefined = value;
  for (const step of path) {
    if (current === null || typeof current !== 'object') return undefined;
    current = Object.hasOwn(current, step) ? (current as Record<string | number, JsonValue>)[step] : undefined;
  }
  return current;
}

/** Every value that is not an object, and every empty object, with its path. An array counts as one value. */
export function* leavesOf(value: JsonValue, path: KeyPath = []): Generator<{ path: KeyPath; value: JsonValue }> {
  const isBranch =
    value !== null && typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length > 0;
  if (!isBranch) yield { path, value };
  else for (const [key, child] of Object.entries(value)) yield* leavesOf(child, [...path, key]);
}

/** Whether the value at a path may be a secret, judged by the names on the path. A server's own name does not count. */
export function mayHoldSecret(path: KeyPath): boolean {
  return path.some((step, depth) => {
    if (typeof step !== 'string') return false;
    return /^(env|environment|headers)$/.test(step) || (depth > 1 && step !== 'auth' && isSecretName(step));
  });
}
