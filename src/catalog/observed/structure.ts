import type { JsonValue } from '../../domain/json.js';

/** Larger values are examined in full each time. */
const MAX_VALUES = 500;
/** Of a longer list only some items are examined, and the choice depends on its length. */
const MAX_ITEMS = 40;
const MAX_DEPTH = 6;

/**
 * The names and kinds in a value as one text. Two values with the same text have the same shape, so the second adds nothing. A
 * program that calls one tool a hundred times mostly gets a hundred such values. Undefined if this shortcut is not valid: text is
 * parsed, and large values are examined only in part.
 */
export function structureOf(value: JsonValue): string | undefined {
  return typeof value === 'string' ? undefined : new Structure().of(value, 0);
}

class Structure {
  #left = MAX_VALUES;

  of(value: JsonValue, depth: number): string | undefined {
    if (--this.#left < 0) return undefined;
    if (value === null) return '0';
    switch (typeof value) {
      case 'string':
        return 's';
      case 'number':
        return 'n';
      case 'boolean':
        return 'b';
      default:
        if (depth >= MAX_DEPTH) return undefined;
        return Array.isArray(value) ? this.#list(value, depth) : this.#object(value, depth);
    }
  }

  /** Consecutive items of the same structure count once. */
  #list(values: readonly JsonValue[], depth: number): string | undefined {
    if (values.length > MAX_ITEMS) return undefined;
    let text = '[';
    let before: string | undefined;
    for (const value of values) {
      const item = this.of(value, depth + 1);
      if (item === undefined) return undefined;
      if (item !== before) text += `${item},`;
      before = item;
    }
    return `${text}]`;
  }

  #object(value: { readonly [name: string]: JsonValue }, depth: number): string | undefined {
    let text = '{';
    for (const name of Object.keys(value)) {
      const held = this.of(value[name] as JsonValue, depth + 1);
      if (held === undefined) return undefined;
      // Quoted, so that no name can imitate another structure.
      text += `${JSON.stringify(name)}${held}`;
    }
    return `${text}}`;
  }
}
