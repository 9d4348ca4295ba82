import type { JsonObject, JsonValue } from '../../domain/json.js';
import { isFieldName } from './field-name.js';
import {
  asMap,
  collapse,
  EMPTY,
  merge,
  type ObservedProperty,
  type ObservedShape,
  OPEN,
  SHAPE_BOUNDS,
  withinBounds,
} from './observed-shape.js';
import { textDataOf } from './text-data.js';

/** Limits on how much of one result is examined. */
const LOOK_BOUNDS = {
  values: 5_000,
  /** From a longer array, this many items are taken across its whole length. */
  items: 40,
  /** Keys of one object; a map may have millions. */
  keys: 500,
} as const;

/** The shape of one result, within the limits. Only names that pass `isFieldName` are kept. */
export function shapeOfResult(value: JsonValue): ObservedShape {
  const sampler = new Sampler();
  if (typeof value !== 'string') return withinBounds(sampler.shapeOf(value, 0));
  const { kind, value: data, isCut } = textDataOf(value);
  return withinBounds({
    isString: true,
    texts: kind,
    ...(isCut && { isCut }),
    ...(data !== undefined && { json: sampler.shapeOf(data, 1) }),
  });
}

class Sampler {
  #remaining: number = LOOK_BOUNDS.values;

  shapeOf(value: JsonValue, depth: number): ObservedShape {
    this.#remaining -= 1;
    if (value === null) return { isNull: true };
    switch (typeof value) {
      case 'string':
        return { isString: true };
      case 'number':
        return { isNumber: true };
      case 'boolean':
        return { isBoolean: true };
      default:
        if (depth >= SHAPE_BOUNDS.depth || this.#remaining < 0) return OPEN;
        return Array.isArray(value) ? { items: this.#items(value, depth) } : this.#object(value, depth);
    }
  }

  #items(values: readonly JsonValue[], depth: number): ObservedShape {
    const step = Math.max(1, values.length / LOOK_BOUNDS.items);
    let shape = EMPTY;
    for (let at = 0; at < values.length && this.#remaining >= 0; at += step) {
      shape = merge(shape, this.shapeOf(values[Math.floor(at)] as JsonValue, depth + 1));
    }
    return shape;
  }

  #object(value: JsonObject, depth: number): ObservedShape {
    const properties = new Map<string, ObservedProperty>();
    let others: ObservedShape | undefined;
    const names = Object.keys(value).slice(0, LOOK_BOUNDS.keys);
    for (const name of names) {
      const shape = this.shapeOf(value[name] as JsonValue, depth + 1);
      if (isFieldName(name)) properties.set(name, { shape, isOptional: false });
      else others = merge(others ?? EMPTY, shape);
    }
    const object = { properties, ...(others && { others }) };
    // If most keys are data, the others are data too that happens to look like names.
    const isMap = names.length > SHAPE_BOUNDS.properties || names.length > properties.size * 2;
    return { object: isMap ? asMap(object) : collapse(object) };
  }
}
