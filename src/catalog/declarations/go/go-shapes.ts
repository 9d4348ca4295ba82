import type { JsonValue } from '../../../domain/json.js';
import { onlyOption } from '../schema/node-comment.js';
import type { ObjectShape, SchemaNode, Shape } from '../schema/schema-model.js';
import { goNamePart, isTagName } from './go-names.js';

/** A Go type and the properties that matter where it is used. */
export interface GoType {
  readonly text: string;
  /** How a value is left out. `pointed`: by a nil pointer. `empty`: by its zero value. `nil`: by its own nil. */
  readonly absence: 'pointed' | 'empty' | 'nil';
  readonly isNullable: boolean;
  /** A struct that contains itself. A field of this type must be a pointer. */
  readonly isRecursive?: true;
  readonly remark?: string;
}

export const ANY: GoType = { text: 'any', absence: 'nil', isNullable: true };

/** Whether a field of this type is a pointer to it. */
export function needsPointer({ absence, isNullable, isRecursive }: GoType, isRequired: boolean): boolean {
  if (absence === 'pointed') return isRecursive === true || isNullable || !isRequired;
  return absence === 'empty' && isNullable && isRequired;
}

/** `nullable` is our own option: a nil list is then sent as `null`, and otherwise as an empty list. */
export function tagOption({ absence, isNullable, text }: GoType, isRequired: boolean): string {
  if (!isRequired) return ',omitempty';
  return absence === 'nil' && isNullable && text !== 'any' ? ',nullable' : '';
}

/** The type of a definition that is referred to while it is being declared. */
export function unfinished(name: string, node: SchemaNode): GoType {
  const { shape } = onlyOption(node);
  const isPointed = shape.kind === 'object' && isStruct(shape);
  const isList = shape.kind === 'array' || shape.kind === 'tuple' || shape.kind === 'object';
  return {
    text: name,
    absence: isPointed ? 'pointed' : 'nil',
    isNullable: shape !== node.shape || !(isPointed || isList),
    ...(isPointed ? { isRecursive: true } : {}),
  };
}

/** Whether an object has known field names that a struct can have. */
export function isStruct({ properties, additional, patterns }: ObjectShape): boolean {
  if (properties.size === 0) return additional === 'closed' && patterns.length === 0;
  return [...properties.keys()].every(isTagName);
}

/** Whether a struct declares additional keys. */
export function isOpen({ additional, patterns }: ObjectShape): boolean {
  return typeof additional !== 'string' || patterns.length > 0;
}

/** Whether omitting the value means the same as sending zero. */
export function isZeroAbsent({ notes }: SchemaNode, zero: number | boolean): boolean {
  if (notes.defaultValue?.value === zero) return true;
  const { minimum, exclusiveMinimum } = notes.constraints ?? {};
  return (minimum !== undefined && minimum > 0) || (exclusiveMinimum !== undefined && exclusiveMinimum >= 0);
}

/** The common type of several scalar options: any text, any number. */
export function scalarOf(shape: Shape): string | undefined {
  switch (shape.kind) {
    case 'string':
      return 'string';
    case 'number':
    case 'integer':
      return 'float64';
    case 'boolean':
      return 'bool';
    case 'literals':
      return shape.values.every((value) => typeof value === 'string')
        ? 'string'
        : shape.values.every((value) => typeof value === 'number')
          ? 'float64'
          : undefined;
    default:
      return undefined;
  }
}

/** What distinguishes one option from the others: its title, or the value of its discriminating property. */
export function optionName({ shape, notes }: SchemaNode, index: number): string {
  const title = notes.title !== undefined && notes.title.length <= 40 ? goNamePart(notes.title) : '';
  if (title !== '') return title;
  if (shape.kind === 'object') {
    for (const { node } of shape.properties.values()) {
      if (node.shape.kind !== 'literals' || node.shape.values.length !== 1) continue;
      const [value] = node.shape.values;
      if (typeof value === 'string' && goNamePart(value) !== '') return goNamePart(value);
    }
  }
  return `Option${index + 1}`;
}

/** The base type of an enumeration's constants; undefined if the values are not an enumeration. */
export function enumBase(values: readonly JsonValue[]): string | undefined {
  const others = values.filter((value) => value !== null);
  if (others.length === 0) return undefined;
  if (others.every((value) => typeof value === 'string')) return 'string';
  if (!others.every((value) => typeof value === 'number')) return undefined;
  return others.every((value) => Number.isSafeInteger(value)) ? 'int' : 'float64';
}
