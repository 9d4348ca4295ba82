import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { isFieldName } from './field-name.js';
import {
  collapse,
  EMPTY,
  type ObservedProperty,
  type ObservedShape,
  OPEN,
  SHAPE_BOUNDS,
  withinBounds,
} from './observed-shape.js';
import { TEXT_KINDS } from './text-data.js';

/** A shape as JSON: `k` kinds, `t` kinds of text, `j` data in text, `i` items, `p` properties (`[name, optional, shape]`), `o` others. */
export function storeShape({ json, texts, items, object, ...kinds }: ObservedShape): JsonObject {
  const letters = KINDS.filter(([kind]) => kinds[kind] === true).map(([, letter]) => letter);
  return {
    ...(letters.length > 0 && { k: letters.join('') }),
    ...omitUndefined({ t: texts }),
    ...(json && { j: storeShape(json) }),
    ...(items && { i: storeShape(items) }),
    ...(object && {
      p: [...object.properties].map(([name, { shape, isOptional }]) => [name, isOptional ? 1 : 0, storeShape(shape)]),
    }),
    ...(object?.others && { o: storeShape(object.others) }),
  };
}

/** Reads a shape from an untrusted file. Anything that is not a shape, and any invalid name, is left out. */
export function readShape(stored: JsonValue | undefined): ObservedShape {
  return withinBounds(read(stored, 0));
}

const KINDS = [
  ['isString', 's'],
  ['isNumber', 'n'],
  ['isBoolean', 'b'],
  ['isNull', '0'],
  ['isOpen', '?'],
  ['isCut', '~'],
] as const;

function read(stored: JsonValue | undefined, depth: number): ObservedShape {
  if (!isJsonObject(stored) || depth > SHAPE_BOUNDS.depth + 1) return OPEN;
  const { k: letters, t: texts, j: json, i: items, p: properties, o: others } = stored;
  const kinds = KINDS.filter(([, letter]) => typeof letters === 'string' && letters.includes(letter));
  const shape: ObservedShape = {
    ...Object.fromEntries(kinds.map(([kind]) => [kind, true])),
    // Text is examined at the top level only: deeper, a comment would be inside a comment.
    ...(typeof texts === 'string' && depth === 0 && { isString: true, texts: knownKinds(texts) }),
    // A shape from an older version has no kinds: it only examined JSON.
    ...(json !== undefined &&
      depth === 0 && {
        isString: true,
        texts: knownKinds(typeof texts === 'string' ? texts : 'j'),
        json: read(json, depth + 1),
      }),
    ...(items !== undefined && { items: read(items, depth + 1) }),
    ...(Array.isArray(properties) && { object: readObject(properties, others, depth) }),
  };
  return Object.keys(shape).length === 0 ? EMPTY : shape;
}

function knownKinds(letters: string): string {
  return Object.keys(TEXT_KINDS)
    .filter((kind) => letters.includes(kind))
    .join('');
}

function readObject(stored: readonly JsonValue[], others: JsonValue | undefined, depth: number) {
  const properties = new Map<string, ObservedProperty>();
  for (const entry of stored.slice(0, SHAPE_BOUNDS.properties)) {
    if (!Array.isArray(entry)) continue;
    const [name, optional, shape] = entry;
    if (typeof name === 'string' && isFieldName(name))
      properties.set(name, { shape: read(shape, depth + 1), isOptional: optional === 1 });
  }
  return collapse({ properties, ...(others !== undefined && { others: read(others, depth + 1) }) });
}
