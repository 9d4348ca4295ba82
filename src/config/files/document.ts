import { parse as parseToml, TomlError } from 'smol-toml';
import { isMap, isPair, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { HostError } from '../../domain/errors.js';
import type { JsonValue } from '../../domain/json.js';
import { type KeyPath, renderPath } from './path.js';

/** Aliases can expand exponentially: `&a [*b,*b]` nine levels deep is gigabytes. Nobody writes more than this by hand. */
const MAX_ALIASES = 100;
const MAX_DEPTH = 50;

/** A place in a text, counted from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A parsed configuration file: plain data, and the place of each value. */
export interface ConfigDocument {
  readonly file: string;
  readonly value: JsonValue;
  /** The place of a value or of its key. If it does not exist, the place of the nearest enclosing value. */
  placeOf(path: KeyPath, part?: 'key' | 'value'): Place | undefined;
}

/** Parses YAML or JSON. Throws `bad_config` with the place of the mistake. */
export function parseYaml(text: string, file: string): ConfigDocument {
  const lines = new LineCounter();
  const document = parseDocument(isJsonFile(file) ? blankComments(text) : text, {
    lineCounter: lines,
    prettyErrors: false,
    version: '1.2',
    schema: 'core',
    merge: true,
  });
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const mistake = document.errors[0] ?? document.warnings[0];
  if (mistake !== undefined)
    throw badConfig(
      file,
      place(mistake.pos[0]),
      text.startsWith('${', mistake.pos[0] - 1) && !isJsonFile(file)
        ? BARE_VARIABLE
        : plainSyntaxMessage(mistake.code, mistake.message, isJsonFile(file)),
    );

  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    throw badConfig(
      file,
      undefined,
      `too many or unresolved aliases (${(error as Error).message}); write the values out`,
    );
  }
  const root = document.contents as Node | null;
  const placeOf = (path: KeyPath, part: 'key' | 'value' = 'value'): Place | undefined => {
    const offset = offsetOf(root, path, part);
    return offset === undefined ? undefined : place(offset);
  };
  assertPlainData(value, (path, problem) =>
    badConfig(file, placeOf(path, 'key'), `${renderPath(path) || 'the file'}: ${problem}`),
  );
  return { file, value, placeOf };
}

/** Parses TOML, which only comes from other programs. Places are known for syntax mistakes, not for values. */
export function parseTomlDocument(text: string, file: string): ConfigDocument {
  try {
    // Through JSON: TOML maps have no prototype and dates are objects, while settings are plain data.
    const value: unknown = JSON.parse(JSON.stringify(parseToml(text)));
    assertPlainData(value, (path, problem) => badConfig(file, undefined, `${renderPath(path)}: ${problem}`));
    return { file, value, placeOf: () => undefined };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [message = 'not TOML'] = error.message.split('\n');
    throw badConfig(file, { line: error.line, column: error.column }, message);
  }
}

/** `file:line:column: what is wrong`, the form that editors and terminals turn into a link. */
export function badConfig(file: string, place: Place | undefined, problem: string, cause?: unknown): HostError {
  const at = place === undefined ? file : `${file}:${place.line}:${place.column}`;
  return new HostError('bad_config', `${at}: ${problem}`, cause === undefined ? undefined : { cause });
}

function offsetOf(root: Node | null, path: KeyPath, part: 'key' | 'value'): number | undefined {
  let node: unknown = root;
  let offset = rangeStart(root);
  for (const [depth, step] of path.entries()) {
    const isLast = depth === path.length - 1;
    if (isMap(node)) {
      const pair = node.items.find(
        (item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(step),
      );
      if (pair === undefined) return offset;
      offset = rangeStart(isLast && part === 'value' ? pair.value : pair.key) ?? rangeStart(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node) && typeof step === 'number') {
      node = node.items[step];
      offset = rangeStart(node) ?? offset;
    } else {
      return offset;
    }
  }
  return offset;
}

function rangeStart(node: unknown): number | undefined {
  return (node as { range?: [number, number, number] | null } | null | undefined)?.range?.[0];
}

/** After this, a value is a finite tree of JSON data whose keys are ordinary. */
function assertPlainData(
  value: unknown,
  fail: (path: KeyPath, problem: string) => HostError,
  path: KeyPath = [],
  above: readonly unknown[] = [],
): asserts value is JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return;
    throw fail(path, `expected a finite number, found ${value}`);
  }
  if (typeof value !== 'object' || (Object.getPrototypeOf(value) !== Object.prototype && !Array.isArray(value))) {
    throw fail(path, `expected text, a number, true, false, a list or a map, found ${typeof value}`);
  }
  if (above.includes(value))
    throw fail(path, 'an alias that refers to something around it, so the value would never end');
  if (path.length > MAX_DEPTH) throw fail(path, `nested more than ${MAX_DEPTH} levels deep`);
  for (const [key, child] of Object.entries(value)) {
    // A parsed `__proto__` is harmless, but every later copy of the object would drop it or obey it.
    if (key === '__proto__') throw fail([...path, key], 'this name cannot be used');
    assertPlainData(child, fail, [...path, Array.isArray(value) ? Number(key) : key], [...above, value]);
  }
}

export function isJsonFile(file: string): boolean {
  return /\.jsonc?$/.test(file);
}

/** Replaces comments in JSON (several editors write them) with spaces, so that every position stays the same. */
export function blankComments(text: string): string {
  return text.replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (match) =>
    match.startsWith('"') ? match : match.replace(/[^\n]/g, ' '),
  );
}

/** `{ command: ${NAME} }`: YAML reads these braces as its own. */
const BARE_VARIABLE = 'a variable between { and } needs quotes; write "${NAME}"';

function plainSyntaxMessage(code: string, message: string, isJson: boolean): string {
  if (code === 'DUPLICATE_KEY') return 'this key appears twice; keep one of them';
  if (code === 'MULTIPLE_DOCS') return 'a second document starts here; keep one';
  // The parser's messages are about YAML: a person with a JSON file does not know scalars or flow maps.
  if (isJson) return 'not valid JSON here: look for a missing or extra comma, quote or bracket just before this place';
  if (code === 'TAG_RESOLVE_FAILED') return `${message}; tags such as !!js are not allowed`;
  return `not valid YAML: ${message}`;
}
