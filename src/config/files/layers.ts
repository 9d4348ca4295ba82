import type { JsonObject, JsonValue } from '../../domain/json.js';
import { isObject } from '../schema/server-map.js';
import type { Environment } from '../variables/environment.js';
import { type KeyPath, leavesOf, renderPath, valueAt } from './path.js';

/** The sources of a value. A later one wins. */
export const LAYERS = ['default', 'file', 'environment', 'flag'] as const;
export type Layer = (typeof LAYERS)[number];

/** The layer of a value, and the place in it: `config.yaml:7:3`, `CODEMODE_PORT`, `--profile`. */
export interface Origin {
  readonly layer: Layer;
  readonly place: string;
}

/** One layer's values, before anything is checked. */
export interface LayerValues {
  readonly layer: Exclude<Layer, 'default'>;
  readonly value: JsonObject;
  placeOf(path: KeyPath): string;
}

/** A setting given on the command line. */
export interface FlagValue {
  readonly flag: string;
  readonly path: KeyPath;
  readonly value: JsonValue;
}

export interface Merged {
  readonly value: JsonObject;
  /** By rendered path of each leaf. A value without an origin is a default. */
  readonly origins: ReadonlyMap<string, Origin>;
}

/** Merges the layers: maps key by key, everything else is replaced. */
export function mergeLayers(layers: readonly LayerValues[]): Merged {
  const origins = new Map<string, Origin>();
  let value: JsonObject = {};
  for (const layer of layers) {
    for (const { path } of leavesOf(layer.value)) {
      if (path.length === 0) continue; // an empty layer sets nothing
      // A value that replaces a map removes the origins of everything in it.
      const replaced = valueAt(value, path);
      if (isObject(replaced)) for (const leaf of leavesOf(replaced, path)) origins.delete(renderPath(leaf.path));
      origins.set(renderPath(path), { layer: layer.layer, place: layer.placeOf(path) });
    }
    value = overlay(value, layer.value) as JsonObject;
  }
  return { value, origins };
}

/** The environment variables that set something, and what each sets. */
export const ENVIRONMENT_SETTINGS: Readonly<Record<string, KeyPath>> = {
  CODEMODE_PROFILE: ['profile'],
  CODEMODE_TOOL_NAME: ['toolName'],
  CODEMODE_ISOLATION: ['sandbox', 'isolation'],
  CODEMODE_UNSAFELY_ALLOW_NO_JAIL: ['sandbox', 'unsafelyAllowNoJail'],
  CODEMODE_WORKERS_MIN: ['sandbox', 'workers', 'min'],
  CODEMODE_WORKERS_MAX: ['sandbox', 'workers', 'max'],
  CODEMODE_TIMEOUT: ['sandbox', 'limits', 'timeout'],
  CODEMODE_MEMORY: ['sandbox', 'limits', 'memory'],
  CODEMODE_HOST: ['server', 'host'],
  CODEMODE_PORT: ['server', 'port'],
  CODEMODE_STORE: ['store'],
  CODEMODE_KEYRING: ['security', 'keyring'],
  CODEMODE_LOG_LEVEL: ['logging', 'level'],
  CODEMODE_LOG_FORMAT: ['logging', 'format'],
};

export function environmentLayer(environment: Environment): LayerValues {
  const names = new Map<string, string>();
  let value: JsonObject = {};
  for (const [name, path] of Object.entries(ENVIRONMENT_SETTINGS)) {
    const text = environment[name];
    if (text === undefined || text === '') continue;
    names.set(renderPath(path), name);
    value = overlay(value, nest(path, text)) as JsonObject;
  }
  return { layer: 'environment', value, placeOf: (path) => names.get(renderPath(path)) ?? 'environment' };
}

export function flagLayer(flags: readonly FlagValue[]): LayerValues {
  const names = new Map(flags.map((flag) => [renderPath(flag.path), flag.flag]));
  const value = flags.reduce<JsonValue>((merged, flag) => overlay(merged, nest(flag.path, flag.value)), {});
  return {
    layer: 'flag',
    value: value as JsonObject,
    placeOf: (path) => names.get(renderPath(path)) ?? 'command line',
  };
}

function overlay(below: JsonValue, above: JsonValue): JsonValue {
  if (!isObject(below) || !isObject(above)) return above;
  const merged: JsonObject = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const existing = Object.hasOwn(merged, key) ? merged[key] : undefined;
    merged[key] = existing === undefined ? value : overlay(existing, value);
  }
  return merged;
}

function nest(path: KeyPath, value: JsonValue): JsonValue {
  return path.reduceRight<JsonValue>((inner, step) => ({ [String(step)]: inner }), value);
}
