import type { JsonObject, JsonValue } from '../../domain/json.js';
import { isObject } from '../schema/server-map.js';
import { referencesIn } from './substitute.js';

/** A variable of the user's environment that a server refers to. */
export interface VariableUse {
  readonly name: string;
  /** A description of where its value goes: `header Authorization`, `env KEY`, `argument 3`, `url`. */
  readonly place: string;
}

/** Every variable whose value would reach this server, with or without a default, in the order of the file. */
export function variableUses(server: JsonObject): VariableUse[] {
  return Object.entries(server).flatMap(([key, value]) => {
    if (key === 'inheritEnv' && Array.isArray(value))
      return value.map((name) => ({ name: String(name), place: 'its environment' }));
    return placesIn(key, value).flatMap(([place, part]) =>
      [...new Set(referencesIn(part))].map((name) => ({ name, place })),
    );
  });
}

function placesIn(key: string, value: JsonValue): [string, JsonValue][] {
  if (key === 'args' && Array.isArray(value)) return value.map((word, index) => [`argument ${index + 1}`, word]);
  const label = LABELS[key] ?? key;
  return isObject(value) ? Object.entries(value).map(([name, part]) => [`${label} ${name}`, part]) : [[label, value]];
}

const LABELS: Readonly<Record<string, string>> = { headers: 'header', environment: 'env' };
