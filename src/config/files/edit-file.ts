import { isDeepStrictEqual } from 'node:util';
import { type Document, isMap, isPair, isScalar, isSeq, parseDocument, type YAMLMap } from 'yaml';
import { HostError } from '../../domain/errors.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import { detectFormat } from '../import/import.js';
import { isObject, shapeServers } from '../schema/server-map.js';
import { badConfig, blankComments, isJsonFile, parseYaml } from './document.js';
import type { KeyPath } from './path.js';
import { insertedEntries, type NewServer, removedEntry } from './splice.js';

/** The servers of one of our own files, by name, as written there. Throws `bad_config`. */
export function serversInFile(text: string, file: string): Record<string, JsonValue> {
  const { mcpServers } = shapeServers(read(text, file)).value as JsonObject;
  return isObject(mcpServers) ? mcpServers : {};
}

/** The text of the file with these servers added. Everything else stays unchanged, to the letter if possible. */
export function withServers(text: string, file: string, added: readonly NewServer[]): string {
  if (added.length === 0) return text;
  const root = read(text, file);
  const path = placeOfServers(root);
  const servers = at(root, path);
  const expected = Array.isArray(servers)
    ? [...servers, ...added.map(({ name, server }) => ({ name, ...server }))]
    : { ...(isObject(servers) ? servers : {}), ...Object.fromEntries(added.map(({ name, server }) => [name, server])) };
  return checked(file, root, path, expected, [
    () => insertedEntries(source(text, file), path, added, isJsonFile(file)),
    () => rewritten(text, file, (document) => addToDocument(document, path, added)),
  ]);
}

/** The text of the file without this server, which must exist. */
export function withoutServer(text: string, file: string, name: string): string {
  const root = read(text, file);
  for (const path of [['mcpServers'], ['mcp', 'servers']]) {
    const servers = at(root, path);
    if (isObject(servers) && Object.hasOwn(servers, name)) {
      const { [name]: _, ...rest } = servers;
      return checked(file, root, path, rest, [
        () => removedEntry(source(text, file), path, name, isJsonFile(file)),
        () => rewritten(text, file, (document) => document.deleteIn([...path, name])),
      ]);
    }
    const index = Array.isArray(servers) ? servers.findIndex((each) => isObject(each) && each.name === name) : -1;
    if (index >= 0 && Array.isArray(servers))
      return checked(file, root, path, servers.toSpliced(index, 1), [
        () => rewritten(text, file, (document) => document.deleteIn([...path, index])),
      ]);
  }
  throw new HostError('bad_input', `${file} has no server called ${JSON.stringify(name)}`);
}

/** The file as data. Files of other programs are not edited. */
function read(text: string, file: string): JsonObject {
  const { value } = parseYaml(text, file);
  if (value === null) return {};
  if (!isObject(value)) throw badConfig(file, undefined, 'expected a map of settings such as "profile: codemode"');
  if (detectFormat(file, value) !== undefined)
    throw new HostError('bad_input', `${file} is a file of another program; codemode changes only its own files`);
  return value;
}

function placeOfServers(root: JsonObject): KeyPath {
  const isInner = root.mcpServers === undefined && isObject(root.mcp) && root.mcp.servers !== undefined;
  return isInner ? ['mcp', 'servers'] : ['mcpServers'];
}

function at(root: JsonObject, path: readonly (string | number)[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((node, key) => (isObject(node) ? node[key] : undefined), root);
}

/** The first of these texts that has exactly the requested content. A failed text edit is never written. */
function checked(
  file: string,
  root: JsonObject,
  path: readonly (string | number)[],
  servers: JsonValue,
  attempts: readonly (() => string | undefined)[],
): string {
  const [top = '', inner] = path as [string, string?];
  const expected = {
    ...root,
    [top]: inner === undefined ? servers : { ...(root[top] as JsonObject), [inner]: servers },
  };
  for (const attempt of attempts) {
    const text = attempt();
    if (text !== undefined && saysSo(text, file, expected)) return text;
  }
  throw new HostError('bad_input', `${file} is written in a way that codemode cannot change safely; edit it by hand`);
}

function saysSo(text: string, file: string, expected: JsonObject): boolean {
  try {
    return isDeepStrictEqual(parseYaml(text, file).value, expected);
  } catch {
    return false;
  }
}

/** The parsed text. Offsets are those of the text itself. */
function source(text: string, file: string): { readonly text: string; readonly document: Document } {
  return { text, document: parseDocument(isJsonFile(file) ? blankComments(text) : text, OPTIONS) };
}

const OPTIONS = { version: '1.2', schema: 'core', merge: true } as const;

/** Keeps comments and values, but not all whitespace. Not for JSON: its comments would be changed. */
function rewritten(text: string, file: string, change: (document: Document) => void): string | undefined {
  if (isJsonFile(file)) return undefined;
  const document = parseDocument(text, OPTIONS);
  change(document);
  return document.toString({ lineWidth: 0 });
}

function addToDocument(document: Document, path: KeyPath, added: readonly NewServer[]): void {
  const servers = document.getIn(path);
  if (!isMap(servers) && !isSeq(servers)) document.setIn(path, document.createNode({}));
  for (const { name, server, comment } of added) {
    if (isSeq(servers)) document.addIn(path, document.createNode({ name, ...server }));
    else document.setIn([...path, name], document.createNode(server));
    const map = document.getIn(path) as YAMLMap;
    const pair = isMap(map) ? map.items.at(-1) : undefined;
    if (comment !== undefined && isPair(pair) && isScalar(pair.key)) pair.key.commentBefore = ` ${comment}`;
  }
}
