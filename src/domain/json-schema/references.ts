import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { isSchema } from './keywords.js';

/** Resolves a `$ref` within this document; `undefined` if the target does not exist or is outside the document. */
export interface References {
  /** `at`: the schema that contains the reference. Inside a schema with its own `$id`, references are relative to that. */
  resolve(reference: string, at?: JsonObject): { readonly pointer: string; readonly target: JsonValue } | undefined;
}

/**
 * References within one schema document: `#`, JSON Pointers (percent-encoded or not), `$anchor` and old `$id: "#name"` names.
 * They may be prefixed with the address, absolute or relative, of the document or of a schema in it with its own `$id`. Nothing
 * is ever fetched or read from elsewhere.
 */
export function referencesOf(root: JsonObject): References {
  const document: Resource = {
    root,
    address: ownAddress(root),
    base: baseOf(ownAddress(root), NO_ADDRESS),
    pointer: '#',
  };
  let embedded: Embedded | undefined;
  const within = (resource: Resource, reference: string, hash: number) => {
    const fragment = decodeFragment(hash < 0 ? '' : reference.slice(hash + 1));
    return fragment === undefined ? undefined : resolveFragment(resource, fragment);
  };
  return {
    resolve(reference, at) {
      const hash = reference.indexOf('#');
      const address = hash < 0 ? reference : reference.slice(0, hash);
      embedded ??= embeddedIn(document);
      const here = (at === undefined ? undefined : embedded.resourceOf.get(at)) ?? document;
      // Generators that put an `$id` on a part often keep counting from the whole document, so a target missing from the part
      // is looked up there.
      if (address === '') return within(here, reference, hash) ?? within(document, reference, hash);
      if (address === document.address) return within(document, reference, hash);
      const target = baseOf(address, here.base);
      const found = target === document.base ? document : embedded.byAddress.get(target);
      return found === undefined ? undefined : within(found, reference, hash);
    },
  };
}

/** A document, or a part of one with an address of its own. */
interface Resource {
  readonly root: JsonObject;
  readonly address: string | undefined;
  /** Its absolute address, which addresses in it are relative to. */
  readonly base: string;
  readonly pointer: string;
  anchors?: Map<string, JsonObject>;
}

interface Embedded {
  readonly byAddress: ReadonlyMap<string, Resource>;
  /** Every schema inside a part with its own address. All other schemas belong to the document. */
  readonly resourceOf: ReadonlyMap<JsonObject, Resource>;
}

/** The base address of a document without an address. */
const NO_ADDRESS = 'schema://document/';

function baseOf(address: string | undefined, base: string): string {
  if (address === undefined) return base;
  try {
    return new URL(address, base).href;
  } catch {
    return address;
  }
}

/** Their content is data, in which `$id` is an ordinary key. */
const DATA: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'example']);

function embeddedIn(document: Resource): Embedded {
  const byAddress = new Map<string, Resource>();
  const resourceOf = new Map<JsonObject, Resource>();
  const visit = (value: JsonValue, pointer: string, around: Resource, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > MAX_ANCHOR_DEPTH) return;
    let resource = around;
    if (isJsonObject(value)) {
      const address = value === document.root ? undefined : embeddedAddress(value);
      if (address !== undefined) {
        resource = { root: value, address, base: baseOf(address, around.base), pointer };
        if (!byAddress.has(resource.base)) byAddress.set(resource.base, resource);
      }
      if (resource !== document) resourceOf.set(value, resource);
    }
    for (const [key, child] of Object.entries(value))
      if (!DATA.has(key)) visit(child, `${pointer}/${escapeToken(key)}`, resource, depth + 1);
  };
  visit(document.root, '#', document, 0);
  return { byAddress, resourceOf };
}

function embeddedAddress({ $id }: JsonObject): string | undefined {
  return typeof $id === 'string' && $id !== '' && !$id.startsWith('#') ? $id.replace(/#$/, '') : undefined;
}

function resolveFragment(resource: Resource, fragment: string): ReturnType<References['resolve']> {
  const { root, pointer } = resource;
  if (fragment === '' || fragment === '/') return { pointer, target: root };
  if (fragment.startsWith('/')) return resolvePointer(root, fragment, pointer);
  resource.anchors ??= collectAnchors(root);
  const anchored = resource.anchors.get(fragment);
  return anchored === undefined
    ? undefined
    : { pointer: `${pointer === '#' ? '' : pointer}#${fragment}`, target: anchored };
}

function resolvePointer(root: JsonObject, fragment: string, start: string): ReturnType<References['resolve']> {
  const tokens = fragment.slice(1).split('/').map(unescapeToken);
  const target = follow(root, tokens);
  if (isSchema(target)) return { pointer: `${start}${fragment}`, target };
  // Converters that rename one container and forget the references into it are common.
  const other = tokens[0] === 'definitions' ? '$defs' : tokens[0] === '$defs' ? 'definitions' : undefined;
  if (other === undefined) return undefined;
  const renamed = follow(root, [other, ...tokens.slice(1)]);
  return isSchema(renamed) ? { pointer: `${start}${fragment}`, target: renamed } : undefined;
}

/** The value at a JSON Pointer such as `/a/b`. Own properties only: `/constructor` must not reach an inherited one. */
export function valueAt(root: JsonObject, pointer: string): JsonValue | undefined {
  return follow(root, pointer.slice(1).split('/').map(unescapeToken));
}

function follow(root: JsonObject, tokens: readonly string[]): JsonValue | undefined {
  let current: JsonValue | undefined = root;
  for (const token of tokens) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, token)) return undefined;
    current = (current as JsonObject)[token];
  }
  return current;
}

/** The last token of a pointer, unescaped: `#/$defs/a~1b` ends in `a/b`. */
export function lastToken(pointer: string): string {
  return unescapeToken(pointer.slice(Math.max(pointer.lastIndexOf('/'), pointer.lastIndexOf('#')) + 1));
}

export function escapeToken(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescapeToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

export function decodeFragment(fragment: string): string | undefined {
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

/** Maximum depth of the search for anchors. The reader's own depth is smaller. */
const MAX_ANCHOR_DEPTH = 64;

function collectAnchors(root: JsonObject): Map<string, JsonObject> {
  const anchors = new Map<string, JsonObject>();
  const visit = (value: JsonValue, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > MAX_ANCHOR_DEPTH) return;
    if (isJsonObject(value)) {
      // A name inside a part with its own address does not belong to this resource.
      if (value !== root && embeddedAddress(value) !== undefined) return;
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
