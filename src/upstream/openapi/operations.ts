import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import { quotedLine } from '../../lib/text/bounded-text.js';
import { type BaseUrl, ownBaseUrl } from './base-url.js';
import type { Pointers } from './pointer.js';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const;
export type Method = (typeof METHODS)[number];

/** For comparison: GitHub has 1,200. */
const MAX_OPERATIONS = 20_000;
const MAX_NAME_CHARACTERS = 128;
const MAX_PATH_CHARACTERS = 2_000;

/** One operation of a document, found but not parsed. */
export interface OperationSource {
  /** The name of its tool. */
  readonly name: string;
  readonly method: Method;
  /** `/pets/{id}` */
  readonly path: string;
  readonly baseUrl: URL;
  readonly operation: JsonObject;
  readonly pathItem: JsonObject;
}

/** All operations, under the names of their tools. A malformed one is left out with a warning, and does not affect the others. */
export function operationsOf(
  document: JsonObject,
  pointers: Pointers,
  base: BaseUrl,
  warn: (warning: string) => void,
): Map<string, OperationSource> {
  const found = new Map<string, OperationSource>();
  const uses = new Map<string, number>();
  const paths = isJsonObject(document.paths) ? document.paths : {};
  for (const [path, item] of Object.entries(paths)) {
    if (path.startsWith('x-')) continue;
    const pathItem = pointers.follow(item);
    const fault = pathItem === undefined ? 'is not an object' : faultOf(path);
    if (fault !== undefined || pathItem === undefined) {
      warn(`path ${quote(path)} ${fault} and was left out`);
      continue;
    }
    for (const method of METHODS) {
      const operation = Object.hasOwn(pathItem, method) ? pathItem[method] : undefined;
      if (operation === undefined) continue;
      const label = `${method.toUpperCase()} ${quote(path)}`;
      if (!isJsonObject(operation)) {
        warn(`${label} is not an object and was left out`);
        continue;
      }
      const baseUrl = ownBaseUrl(operation.servers ?? pathItem.servers, base);
      if (baseUrl === undefined) {
        warn(`${label} is on another server than the API and was left out`);
        continue;
      }
      if (found.size === MAX_OPERATIONS) {
        warn(`there are more than ${MAX_OPERATIONS} operations; the rest was left out`);
        return found;
      }
      const name = freeName(nameOf(operation.operationId, method, path), found, uses);
      found.set(name, { name, method, path, baseUrl, operation, pathItem });
    }
  }
  return found;
}

/** Why a path is rejected: it would leave the API's base path, or is more than a path. */
function faultOf(path: string): string | undefined {
  if (!path.startsWith('/')) return 'does not begin with a slash';
  if (path.length > MAX_PATH_CHARACTERS) return 'is too long';
  if (/[?#\\\s\p{C}]/u.test(path)) return 'has characters that a path cannot have';
  if (hasDotSegment(path)) return 'has . or .. in it';
  return undefined;
}

/** Whether a path segment is `.` or `..` in any encoding: a server that resolves it would use another path. */
export function hasDotSegment(path: string): boolean {
  return path.split(/[/\\]|%2f|%5c/i).some((step) => /^\.{1,2}(;|$)/.test(step.replace(/%2e/gi, '.')));
}

function nameOf(operationId: JsonValue | undefined, method: Method, path: string): string {
  const given = typeof operationId === 'string' ? plain(operationId) : '';
  return given !== '' ? given : plain(`${method}${path.replace(/\{([^{}]*)\}/g, 'by_$1')}`);
}

function plain(text: string): string {
  return text
    .slice(0, MAX_NAME_CHARACTERS * 4)
    .replace(/[^A-Za-z0-9_.-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, MAX_NAME_CHARACTERS);
}

/** Duplicate names are numbered. `uses` keeps the count: trying every number would take quadratic time. */
function freeName(wanted: string, taken: ReadonlyMap<string, unknown>, uses: Map<string, number>): string {
  let name = wanted;
  for (let number = uses.get(wanted) ?? 1; taken.has(name); ) {
    number += 1;
    name = `${wanted}_${number}`;
    uses.set(wanted, number);
  }
  return name;
}

function quote(path: string): string {
  return quotedLine(path, 100);
}
