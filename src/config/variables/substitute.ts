import type { JsonValue } from '../../domain/json.js';
import { type KeyPath, renderPath } from '../files/path.js';
import type { Environment } from './environment.js';

/** `$${X}` means the text `${X}`; then `${X}` and `${X:-default}`. */
const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-((?:[^}\\]|\\.)*))?\}|\$\{([^}]*)\}?/g;

/** Variables that only describe the user and the folders. If they were hidden, a shown command could not be typed. */
const SHOWN = /^(?:HOME|USER|LOGNAME|PWD|TMPDIR|XDG_\w+)$/;

export interface Substitution {
  readonly value: JsonValue;
  /** Rendered paths of the values that may contain a secret from the environment. They are never shown. */
  readonly fromEnvironment: ReadonlySet<string>;
  /** The variables that were filled in, with their values. */
  readonly variables: ReadonlyMap<string, string>;
}

export interface SubstitutionProblem {
  readonly path: KeyPath;
  readonly problem: string;
}

/** Replaces environment variables in every text value. Keys are unchanged. Reports every missing variable at once. */
export function substitute(
  value: JsonValue,
  environment: Environment,
): { readonly result: Substitution; readonly problems: readonly SubstitutionProblem[] } {
  const fromEnvironment = new Set<string>();
  const variables = new Map<string, string>();
  const problems: SubstitutionProblem[] = [];

  const walk = (node: JsonValue, path: KeyPath): JsonValue => {
    if (typeof node === 'string') return fill(node, path);
    if (Array.isArray(node)) return node.map((item, index) => walk(item, [...path, index]));
    if (node === null || typeof node !== 'object') return node;
    return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, walk(child, [...path, key])]));
  };

  const fill = (text: string, path: KeyPath): string =>
    text.replace(REFERENCE, (match, name?: string, fallback?: string, malformed?: string) => {
      if (match === '$${') return '${';
      if (name === undefined) {
        problems.push({ path, problem: `expected \${NAME} or \${NAME:-default}, found \${${malformed ?? ''}` });
        return match;
      }
      const found = environment[name];
      // As in a shell, `:-` also applies to an empty variable.
      if (fallback !== undefined && (found === undefined || found === '')) return fallback.replace(/\\(.)/g, '$1');
      if (found === undefined) {
        problems.push({
          path,
          problem: `the environment variable ${name} is not set; set it, or write \${${name}:-default}`,
        });
        return match;
      }
      if (!SHOWN.test(name)) fromEnvironment.add(renderPath(path));
      variables.set(name, found);
      return found;
    });

  return { result: { value: walk(value, []), fromEnvironment, variables }, problems };
}

/** All variables that a value refers to, with or without a default. */
export function referencesIn(value: JsonValue): string[] {
  const names: string[] = [];
  mapTexts(value, (text) => {
    for (const [match, name, , malformed] of text.matchAll(REFERENCE))
      if (match !== '$${') names.push(name ?? malformed ?? '');
    return text;
  });
  return names;
}

/** The variables that a value refers to without a default. */
export function variablesIn(value: JsonValue): string[] {
  const names: string[] = [];
  mapTexts(value, (text) => {
    for (const [, name, fallback] of text.matchAll(REFERENCE))
      if (name !== undefined && fallback === undefined) names.push(name);
    return text;
  });
  return names;
}

/** A value of another program. References that are not ours, such as `${a.b}`, are escaped to stand for themselves. */
export function escapeUnknownReferences(value: JsonValue): JsonValue {
  return mapTexts(value, (text) =>
    text.replace(REFERENCE, (match, name?: string) => (name !== undefined || match === '$${' ? match : `$${match}`)),
  );
}

function mapTexts(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, mapTexts(child, change)]));
}
