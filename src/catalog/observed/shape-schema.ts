import type { JsonObject } from '../../domain/json.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { EMPTY, type ObservedObject, type ObservedShape } from './observed-shape.js';

/** A shape as a JSON Schema. It has only the names of fields and the kinds of values. */
export function schemaOfShape(shape: ObservedShape): JsonObject {
  if (shape.isOpen === true || shape === EMPTY) return {};
  const kinds = [
    ...(shape.isString === true ? ['string'] : []),
    ...(shape.isNumber === true ? ['number'] : []),
    ...(shape.isBoolean === true ? ['boolean'] : []),
    ...(shape.object === undefined ? [] : ['object']),
    ...(shape.items === undefined ? [] : ['array']),
    ...(shape.isNull === true ? ['null'] : []),
  ];
  // A single null says nothing about the type of other values.
  if (kinds.length === 0 || (kinds.length === 1 && shape.isNull === true)) return {};
  return {
    type: kinds.length === 1 ? (kinds[0] as string) : kinds,
    ...(shape.object === undefined ? {} : objectKeywords(shape.object)),
    ...(shape.items === undefined || shape.items === EMPTY ? {} : { items: schemaOfShape(shape.items) }),
  };
}

function objectKeywords({ properties, others }: ObservedObject): JsonObject {
  const members = [...properties];
  const required = members.filter(([, { isOptional }]) => !isOptional).map(([name]) => name);
  return {
    ...(members.length === 0
      ? {}
      : { properties: Object.fromEntries(members.map(([name, { shape }]) => [name, schemaOfShape(shape)])) }),
    ...(required.length === 0 ? {} : { required }),
    ...omitUndefined({ additionalProperties: ifDefined(others, schemaOfShape) }),
  };
}
