import type { JsonValue } from '../domain/json.js';
import { maskAddress } from '../lib/secrets/address-secrets.js';
import { isSecretName, MASK } from '../lib/secrets/mask.js';
import type { Layer } from './files/layers.js';
import { type KeyPath, leavesOf, mayHoldSecret, renderPath } from './files/path.js';
import type { LoadedConfig } from './load.js';

export interface ExplainedValue {
  readonly key: string;
  /** JSON, with every value that may be a secret masked. */
  readonly value: string;
  readonly layer: Layer;
  /** The place where it was set; empty for a default. */
  readonly place: string;
}

/** Every setting, in the order of the schema: its value, its layer, and its place in that layer. */
export function explainConfig(loaded: LoadedConfig): ExplainedValue[] {
  const rows: ExplainedValue[] = [];
  for (const { path, value } of leavesOf(loaded.config as unknown as JsonValue)) {
    if (value === undefined) continue;
    const key = renderPath(path);
    const origin = loaded.origins.get(key) ?? nearestOrigin(path, loaded);
    rows.push({
      key,
      value: JSON.stringify(masked(value, path, loaded.fromEnvironment)),
      layer: origin?.layer ?? 'default',
      place: origin?.place ?? '',
    });
  }
  return rows;
}

/** An item of a list has the place of the list. */
function nearestOrigin(path: KeyPath, loaded: LoadedConfig) {
  return path.length > 1 && typeof path.at(-1) === 'number'
    ? loaded.origins.get(renderPath(path.slice(0, -1)))
    : undefined;
}

function masked(value: JsonValue, path: KeyPath, fromEnvironment: ReadonlySet<string>): JsonValue {
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      index > 0 && isSecretFlag(value[index - 1]) ? MASK : masked(item, [...path, index], fromEnvironment),
    );
  }
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, masked(item, [...path, key], fromEnvironment)]),
    );
  }
  if (typeof value !== 'string' || value === '') return value;
  if (mayHoldSecret(path) || fromEnvironment.has(renderPath(path))) return MASK;
  return typeof path.at(-1) === 'number' && looksLikeSecretArgument(value) ? MASK : maskAddress(value);
}

/** `--token=abc`, `API_KEY=abc`: command lines carry secrets too. */
function looksLikeSecretArgument(value: string): boolean {
  const name = /^-{0,2}([\w-]+)=/.exec(value)?.[1];
  return name !== undefined && isSecretName(name);
}

/** `--token abc`: the secret is the next word. */
function isSecretFlag(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && /^-{1,2}[\w-]+$/.test(value) && isSecretName(value);
}
