import type { JsonValue } from '../../../domain/json.js';
import { onlyOption } from '../schema/node-comment.js';
import type { ObjectShape, SchemaNode, Shape } from '../schema/schema-model.js';
import { goNamePart, isTagName } from './go-names.js';

/** A Go type, and what has to be known of it where it is used. */
export interface GoType {
  readonly text: string;
  /** `pointed`: a pointer is needed to leave it out. `empty`: its zero value is as good as nothing. `nil`: has its own. */
  readonly absence: 'pointed' | 'empty' | 'nil';
  readonly isNullable: boolean;
  /** A struct that contains itself: a field of it has to be a pointer. */
  readonly isRecursive?: true;
  readonly remark?: string;
}

export const ANY: GoType = { text: 'any', absence: 'nil', isNullable: true };

/** Whether a field of this type is a pointer to it. */
export function needsPointer({ absence, isNullable, isRecursive }: GoType, isRequired: boolean): boolean {
  if (absence === 'pointed') return isRecursive === true || isNullable || !isRequired;
  return absence === 'empty' && isNullable && isRequired;
}

/** `nullable` is ours: a list that is nil is sent as `null` there, and as an empty list elsewhere. */
export function tagOption({ absence, isNullable, text }: GoType, isRequired: boolean): string {
  if (!isRequired) return ',omitempty';
  return absence === 'nil' && isNullable && text !== 'any' ? ',nullable' : '';
}

/** A definition that is referred to while it is being declared. */
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

/** An object with fields of known names that a struct can have. */
export function isStruct({ properties, additional, patterns }: ObjectShape): boolean {
  if (properties.size === 0) return additional === 'closed' && patterns.length === 0;
  return [...properties.keys()].every(isTagName);
}

/** A struct that says of itself that it has further keys. */
export function isOpen({ additional, patterns }: ObjectShape): boolean {
  return typeof additional !== 'string' || patterns.length > 0;
}

/** Whether leaving the value out says the same as sending its zero. */
export function isZeroAbsent({ notes }: SchemaNode, zero: number | boolean): boolean {
  if (notes.defaultValue?.value === zero) return true;
  const { minimum, exclusiveMinimum } = notes.constraints ?? {};
  return (minimum !== undefined && minimum > 0) || (exclusiveMinimum !== undefined && exclusiveMinimum >= 0);
}

/** The type that several scalar options have in common: any text, any number. */
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

/** What tells one option from the others: its title, or the value of the property that says which one it is. */
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

/** What the constants of an enumeration are made of; undefined where it is none. */
export function enumBase(values: readonly JsonValue[]): string | undefined {
  const others = values.filter((value) => value !== null);
  if (others.length === 0) return undefined;
  if (others.every((value) => typeof value === 'string')) return 'string';
  if (!others.every((value) => typeof value === 'number')) return undefined;
  return others.every((value) => Number.isSafeInteger(value)) ? 'int' : 'float64';
}
