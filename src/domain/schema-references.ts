import { isJsonObject, type JsonObject, type JsonValue } from './json.js';

/** What a `$ref` of this document points to; `undefined` where it points nowhere, or out of the document. */
export interface References {
  resolve(reference: string): { readonly pointer: string; readonly target: JsonValue } | undefined;
}

/**
 * References within one schema document: `#`, JSON Pointers (percent-encoded or not), `$anchor` and old `$id: "#name"`
 * names, and the document's own `$id` in front of them. Nothing is ever fetched or read from elsewhere.
 */
export function referencesOf(root: JsonObject): References {
  const base = ownAddress(root);
  let anchors: Map<string, JsonObject> | undefined;
  return {
    resolve(reference) {
      const hash = reference.indexOf('#');
      const address = hash < 0 ? reference : reference.slice(0, hash);
      if (address !== '' && address !== base) return undefined;
      const fragment = decodeFragment(hash < 0 ? '' : reference.slice(hash + 1));
      if (fragment === undefined) return undefined;
      if (fragment === '' || fragment === '/') return { pointer: '#', target: root };
      if (fragment.startsWith('/')) return resolvePointer(root, fragment);
      anchors ??= collectAnchors(root);
      const anchored = anchors.get(fragment);
      return anchored === undefined ? undefined : { pointer: `#${fragment}`, target: anchored };
    },
  };
}

function resolvePointer(root: JsonObject, fragment: string): ReturnType<References['resolve']> {
  const tokens = fragment.slice(1).split('/').map(unescapeToken);
  const target = follow(root, tokens);
  if (target !== undefined) return { pointer: `#${fragment}`, target };
  // Converters that rename one container and forget the references into it are common.
  const other = tokens[0] === 'definitions' ? '$defs' : tokens[0] === '$defs' ? 'definitions' : undefined;
  if (other === undefined) return undefined;
  const renamed = follow(root, [other, ...tokens.slice(1)]);
  return renamed === undefined ? undefined : { pointer: `#${fragment}`, target: renamed };
}

/** Own properties only: `#/constructor` and `#/__proto__` must not reach what every object inherits. */
function follow(root: JsonObject, tokens: readonly string[]): JsonValue | undefined {
  let current: JsonValue = root;
  for (const token of tokens) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, token)) return undefined;
    const next: JsonValue | undefined = (current as JsonObject)[token];
    if (next === undefined) return undefined;
    current = next;
  }
  return isJsonObject(current) || typeof current === 'boolean' ? current : undefined;
}

/** The last part of a pointer as it was meant: `#/$defs/a~1b` ends in `a/b`. */
export function lastToken(pointer: string): string {
  return unescapeToken(pointer.slice(Math.max(pointer.lastIndexOf('/'), pointer.lastIndexOf('#')) + 1));
}

export function escapeToken(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescapeToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

function decodeFragment(fragment: string): string | undefined {
  if (!fragment.includes('%')) return fragment;
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}

function ownAddress(root: JsonObject): string | undefined {
  const id = root.$id ?? root.id;
  return typeof id === 'string' ? id.replace(/#$/, '') : undefined;
}

/** How far down anchors are looked for. The reader's own depth is smaller. */
const MAX_ANCHOR_DEPTH = 64;

function collectAnchors(root: JsonObject): Map<string, JsonObject> {
  const anchors = new Map<string, JsonObject>();
  const visit = (value: JsonValue, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > MAX_ANCHOR_DEPTH) return;
    if (isJsonObject(value)) {
      for (const key of ['$anchor', '$dynamicAnchor', '$id'] as const) {
        const name = value[key];
        if (typeof name !== 'string') continue;
        const plain = key !== '$id' ? name : name.startsWith('#') ? name.slice(1) : '';
        if (plain !== '' && !anchors.has(plain)) anchors.set(plain, value);
      }
    }
    for (const child of Object.values(value)) visit(child, depth + 1);
  };
  visit(root, 0);
  return anchors;
}
