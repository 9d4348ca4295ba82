import * as z from 'zod';
import { HostError } from '../../domain/errors.js';
import type { JsonValue } from '../../domain/json.js';
import { maskAddress } from '../../lib/secrets/address-secrets.js';
import { visibleLine } from '../../lib/text/visible-text.js';
import { type KeyPath, mayHoldSecret, renderPath, valueAt } from '../files/path.js';
import { configSchema } from './schema.js';

/** One thing wrong with a configuration. `part` says whether the key or its value is at fault. */
export interface Mistake {
  readonly path: KeyPath;
  readonly part: 'key' | 'value';
  readonly problem: string;
}

const MAX_SHOWN_CHARACTERS = 60;
const MAX_REPORTED_MISTAKES = 10;

/** All mistakes as one error: `file:line:column: key: what is wrong`, one line each. */
export function reportMistakes(
  mistakes: readonly Mistake[],
  place: (mistake: Mistake) => string,
  written: (path: KeyPath) => KeyPath = (path) => path,
): HostError {
  const lines = mistakes.slice(0, MAX_REPORTED_MISTAKES).map((mistake) => {
    const key = renderPath(written(mistake.path));
    return visibleLine(`${place(mistake)}: ${key === '' ? '' : `${key}: `}${mistake.problem}`);
  });
  if (mistakes.length > lines.length) lines.push(`and ${mistakes.length - lines.length} more`);
  return new HostError('bad_config', lines.join('\n'));
}

/** What a person needs to know about each issue of the schema. */
export function mistakesOf(error: z.ZodError, value: JsonValue, hidden: ReadonlySet<string>): Mistake[] {
  return error.issues.flatMap((issue): Mistake[] => {
    const path = issue.path.filter((step) => typeof step !== 'symbol');
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ path: [...path, key], part: 'key', problem: unknownKey(path, key) }));
    }
    if (issue.code === 'invalid_key') {
      return [{ path, part: 'key', problem: `expected ${issue.issues[0]?.message ?? 'another name'}` }];
    }
    const found = valueAt(value, path);
    const problem = `expected ${expectation(issue)}, found ${found === undefined ? 'nothing' : show(found, path, hidden)}`;
    return [{ path, part: 'value', problem }];
  });
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return (
        {
          string: 'text',
          record: 'a map',
          object: 'a map',
          array: 'a list',
          number: 'a number',
          boolean: 'true or false',
        }[issue.expected as string] ?? issue.expected
      );
    case 'invalid_value':
      return issue.values.length === 1 ? String(issue.values[0]) : `one of ${issue.values.map(String).join(', ')}`;
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options) ? `one of ${issue.options.join(', ')}` : issue.message;
    case 'too_small':
      return issue.origin === 'string' ? 'some text' : `at least ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string' ? `at most ${issue.maximum} characters` : `at most ${issue.maximum}`;
    case 'invalid_format':
      return issue.format === 'url' ? 'an address such as https://example.com' : issue.message;
    default:
      return issue.message;
  }
}

/** A value as written, unless it may be a secret. */
function show(value: JsonValue, path: KeyPath, hidden: ReadonlySet<string>): string {
  // An invalid address cannot be parsed: its password may be anywhere in it.
  const isSecret = hidden.has(renderPath(path)) || mayHoldSecret(path) || path[0] === 'store';
  if (Array.isArray(value)) return 'a list';
  if (value !== null && typeof value === 'object') return 'a map';
  if (isSecret) return `${typeof value === 'string' ? 'text' : `a ${typeof value}`} (not shown: it may be secret)`;
  const text = JSON.stringify(typeof value === 'string' ? maskAddress(value) : value);
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}

function unknownKey(path: KeyPath, key: string): string {
  // The key of VS Code and of many a guess. Nearer by spelling is `server`, which is how we listen.
  if (path.length === 0 && distance('servers', key.toLowerCase()) <= 2) return 'unknown key; did you mean mcpServers?';
  const known = knownKeys(path);
  const near = known.filter(
    (candidate) => distance(candidate.toLowerCase(), key.toLowerCase()) <= Math.max(1, Math.floor(key.length / 3)),
  );
  if (near[0] !== undefined) return `unknown key; did you mean ${near[0]}?`;
  return known.length > 0 ? `unknown key; expected one of ${known.join(', ')}` : 'unknown key';
}

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
}

function knownKeys(path: KeyPath): string[] {
  let node: SchemaNode | undefined = z.toJSONSchema(configSchema, {
    io: 'input',
    unrepresentable: 'any',
  }) as SchemaNode;
  for (const step of path) {
    const extra: SchemaNode | boolean | undefined = node?.additionalProperties;
    node =
      typeof step === 'number'
        ? node?.items
        : (node?.properties?.[step] ?? (typeof extra === 'object' ? extra : undefined));
  }
  return Object.keys(node?.properties ?? {}).filter((key) => key !== '$schema');
}

/** Levenshtein distance of two short names. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 8 || a.length > 64 || b.length > 64) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substitution));
    }
    row = next;
  }
  return row[b.length] ?? Number.POSITIVE_INFINITY;
}
