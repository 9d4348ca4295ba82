import { TEXT_KINDS } from './text-data.js';

/** The shape of observed values: their kinds, and the names of properties. It holds no values and no other text. */
export interface ObservedShape {
  readonly isNumber?: true;
  readonly isBoolean?: true;
  readonly isNull?: true;
  /** A string; `texts` lists the kinds of text seen (`TEXT_KINDS`), `json` is the shape of the data in them. */
  readonly isString?: true;
  readonly texts?: string;
  readonly json?: ObservedShape;
  /** Some texts ended in the middle of their data. */
  readonly isCut?: true;
  /** Items of all arrays seen; `EMPTY` if all were empty. */
  readonly items?: ObservedShape;
  readonly object?: ObservedObject;
  /** Some part was not examined. */
  readonly isOpen?: true;
}

export interface ObservedObject {
  readonly properties: ReadonlyMap<string, ObservedProperty>;
  /** The values under keys that are data. */
  readonly others?: ObservedShape;
}

export interface ObservedProperty {
  readonly shape: ObservedShape;
  /** Some objects did not have it. */
  readonly isOptional: boolean;
}

/** Nothing observed so far. */
export const EMPTY: ObservedShape = Object.freeze({});
export const OPEN: ObservedShape = Object.freeze({ isOpen: true });

/** Limits on what is kept of one tool's results. */
export const SHAPE_BOUNDS = {
  depth: 8,
  /** Shapes inside one shape. */
  nodes: 300,
  /** Properties of one object. If there are more, its keys count as data. */
  properties: 60,
} as const;

/** If an object has at least this many properties of similar structure or of one simple type, their names count as data. */
const SIMILAR_STRUCTURES = 8;
const SIMILAR_SCALARS = 24;
/** The same limit if none of the names is in every object seen. */
const SIMILAR_AND_OPTIONAL = 5;

/** A shape that fits both. */
export function merge(left: ObservedShape, right: ObservedShape): ObservedShape {
  if (left === EMPTY || left === right) return right;
  if (right === EMPTY) return left;
  const json = mergeParts(left.json, right.json, merge);
  const items = mergeParts(left.items, right.items, merge);
  const object = mergeParts(left.object, right.object, mergeObjects);
  return {
    ...((left.isNumber ?? right.isNumber) && { isNumber: true }),
    ...((left.isBoolean ?? right.isBoolean) && { isBoolean: true }),
    ...((left.isNull ?? right.isNull) && { isNull: true }),
    ...((left.isString ?? right.isString) && { isString: true }),
    ...mergedTexts(left.texts, right.texts),
    ...((left.isCut ?? right.isCut) && { isCut: true }),
    ...(json && { json }),
    ...(items && { items }),
    ...(object && { object }),
    ...((left.isOpen ?? right.isOpen) && { isOpen: true }),
  };
}

/** An object of these properties and other values. Names that look like data are removed. */
export function collapse({ properties, others }: ObservedObject): ObservedObject {
  const isMap = properties.size > SHAPE_BOUNDS.properties || isAlike([...properties.values()]);
  if (isMap) return asMap({ properties, ...(others && { others }) });
  return others === undefined ? { properties } : { properties, others };
}

/** The same with every name treated as data. */
export function asMap({ properties, others = EMPTY }: ObservedObject): ObservedObject {
  return { properties: new Map(), others: [...properties.values()].map(({ shape }) => shape).reduce(merge, others) };
}

/**
 * The shape of the result of the caller's own query: the column names come from the query and say nothing about the next one. So
 * the objects in lists are rows with any keys. Without a list, the object itself is a row.
 */
export function asRows(shape: ObservedShape): ObservedShape {
  const { json, object, items } = shape;
  if (json !== undefined) return { ...shape, json: asRows(json) };
  if (items !== undefined) return { ...shape, items: openRow(items) };
  if (object === undefined) return shape;
  const members = [...object.properties];
  if (!members.some(([, member]) => member.shape.items !== undefined)) return { ...shape, object: ANY_ROW };
  const properties = new Map(
    members.map(([name, member]) => [name, { ...member, shape: withOpenRows(member.shape) }] as const),
  );
  return { ...shape, object: { ...object, properties } };
}

function withOpenRows(shape: ObservedShape): ObservedShape {
  return shape.items === undefined ? shape : { ...shape, items: openRow(shape.items) };
}

function openRow(row: ObservedShape): ObservedShape {
  if (row.object !== undefined) return { ...row, object: ANY_ROW };
  return row.items === undefined ? row : { ...row, items: OPEN };
}

const ANY_ROW: ObservedObject = { properties: new Map(), others: { isOpen: true } };

/** The same with nothing nested deeper than this. */
export function cutToDepth(shape: ObservedShape, depth: number): ObservedShape {
  if (shape.items === undefined && shape.object === undefined && shape.json === undefined) return shape;
  if (depth <= 0) return OPEN;
  const { json, items, object, ...simple } = shape;
  return {
    ...simple,
    ...(json && { json: cutToDepth(json, depth - 1) }),
    ...(items && { items: cutToDepth(items, depth - 1) }),
    ...(object && {
      object: {
        properties: new Map(
          [...object.properties].map(([name, property]) => [
            name,
            { ...property, shape: cutToDepth(property.shape, depth - 1) },
          ]),
        ),
        ...(object.others && { others: cutToDepth(object.others, depth - 1) }),
      },
    }),
  };
}

/** A shape within the limits: what is nested too deeply is left open. */
export function withinBounds(shape: ObservedShape): ObservedShape {
  let bounded = shape;
  for (let depth = SHAPE_BOUNDS.depth; countNodes(bounded) > SHAPE_BOUNDS.nodes && depth > 0; depth -= 1) {
    bounded = cutToDepth(shape, depth);
  }
  return bounded;
}

function countNodes({ json, items, object }: ObservedShape): number {
  let count = 1;
  if (json !== undefined) count += countNodes(json);
  if (items !== undefined) count += countNodes(items);
  if (object?.others !== undefined) count += countNodes(object.others);
  for (const { shape } of object?.properties.values() ?? []) count += countNodes(shape);
  return count;
}

/** Each kind once, in the order of the table. */
function mergedTexts(left: string | undefined, right: string | undefined): { texts?: string } {
  if (left === undefined && right === undefined) return {};
  const both = `${left ?? ''}${right ?? ''}`;
  return {
    texts: Object.keys(TEXT_KINDS)
      .filter((kind) => both.includes(kind))
      .join(''),
  };
}

function mergeParts<T>(left: T | undefined, right: T | undefined, both: (left: T, right: T) => T): T | undefined {
  return left === undefined || right === undefined ? (left ?? right) : both(left, right);
}

function mergeObjects(left: ObservedObject, right: ObservedObject): ObservedObject {
  // Once known as a map, always a map: a small one has too few keys to be recognised.
  if (isPureMap(left) || isPureMap(right)) {
    return { properties: new Map(), others: merge(asMap(left).others ?? EMPTY, asMap(right).others ?? EMPTY) };
  }
  const others = mergeParts(left.others, right.others, merge);
  const properties = new Map<string, ObservedProperty>();
  for (const [name, property] of left.properties) {
    const other = right.properties.get(name);
    if (other === undefined) properties.set(name, { shape: property.shape, isOptional: true });
    else {
      const isOptional = property.isOptional || other.isOptional;
      properties.set(name, { shape: merge(property.shape, other.shape), isOptional });
    }
  }
  for (const [name, { shape }] of right.properties) {
    if (!properties.has(name)) properties.set(name, { shape, isOptional: true });
  }
  return collapse({ properties, ...(others && { others }) });
}

function isPureMap({ properties, others }: ObservedObject): boolean {
  return others !== undefined && properties.size === 0;
}

/** Whether the properties are so many and so alike that they are entries rather than fields. */
function isAlike(properties: readonly ObservedProperty[]): boolean {
  const [first, ...rest] = properties;
  if (first === undefined || properties.length < SIMILAR_AND_OPTIONAL) return false;
  const isStructure = first.shape.object !== undefined || first.shape.items !== undefined;
  const enough = properties.every(({ isOptional }) => isOptional)
    ? SIMILAR_AND_OPTIONAL
    : isStructure
      ? SIMILAR_STRUCTURES
      : SIMILAR_SCALARS;
  return properties.length >= enough && rest.every(({ shape }) => isSimilar(first.shape, shape, 0));
}

/** The same kinds, and at least half of the property names in common. */
function isSimilar(left: ObservedShape, right: ObservedShape, depth: number): boolean {
  if (depth > 3 || left.isOpen === true || right.isOpen === true) return true;
  if (left.isString !== right.isString || left.isNumber !== right.isNumber) return false;
  if (left.isBoolean !== right.isBoolean || (left.object === undefined) !== (right.object === undefined)) return false;
  if ((left.items === undefined) !== (right.items === undefined)) return false;
  if (left.items !== undefined && right.items !== undefined && left.items !== EMPTY && right.items !== EMPTY)
    return isSimilar(left.items, right.items, depth + 1);
  if (left.object === undefined || right.object === undefined) return true;
  const names = new Set([...left.object.properties.keys(), ...right.object.properties.keys()]);
  const shared = [...left.object.properties.keys()].filter((name) => right.object?.properties.has(name));
  return shared.length * 2 >= names.size;
}
