import type { JsonValue } from '../../../domain/json.js';
import type { Constraints } from '../../../domain/json-schema/constraints.js';

/** An untrusted schema, read once. Every emitter (TypeScript, Python, Go) and the example generator use this model. */
export interface SchemaModel {
  readonly root: SchemaNode;
  /** The parts of the schema that no emitter can express, each with its JSON Pointer. */
  readonly warnings: readonly SchemaWarning[];
}

export interface SchemaWarning {
  readonly pointer: string;
  readonly message: string;
}

/** A type, and its description at the place where it is used. */
export interface SchemaNode {
  readonly shape: Shape;
  readonly notes: Notes;
}

export type Shape =
  /** Anything, or something that cannot be represented. */
  | { readonly kind: 'unknown' }
  /** Nothing validates. */
  | { readonly kind: 'never' }
  | { readonly kind: 'string' | 'number' | 'integer' | 'boolean' | 'null' }
  /** One of these values; never empty. */
  | { readonly kind: 'literals'; readonly values: readonly JsonValue[] }
  | { readonly kind: 'array'; readonly item: SchemaNode }
  | TupleShape
  | ObjectShape
  /** At least two options, none of them a union without notes. */
  | { readonly kind: 'union'; readonly options: readonly SchemaNode[] }
  /** At least two parts that could not be merged into one. */
  | { readonly kind: 'intersection'; readonly parts: readonly SchemaNode[] }
  | { readonly kind: 'reference'; readonly definition: Definition };

export interface TupleShape {
  readonly kind: 'tuple';
  readonly elements: readonly SchemaNode[];
  /** How many elements are required. The others are optional. */
  readonly requiredCount: number;
  /** The type of further elements; absent if none is declared or none is allowed. */
  readonly rest?: SchemaNode;
  /** The schema does not mention further elements, which formally allows anything. */
  readonly isUnstated?: true;
}

export interface ObjectShape {
  readonly kind: 'object';
  readonly properties: ReadonlyMap<string, ObjectProperty>;
  /** `closed`: no other keys. `unstated`: the schema does not say, which formally allows any but rarely means it. */
  readonly additional: SchemaNode | 'closed' | 'unstated';
  readonly patterns: readonly PatternProperty[];
}

export interface ObjectProperty {
  readonly node: SchemaNode;
  readonly isRequired: boolean;
}

export interface PatternProperty {
  /** An untrusted regular expression: shown, never run. */
  readonly pattern: string;
  readonly node: SchemaNode;
}

/** A part of the schema that a `$ref` points to. */
export interface Definition {
  readonly pointer: string;
  /** The part as the server sent it. Equal sources with equal references are one type. */
  readonly source: JsonValue;
  /** Set once the part has been read. Until then it is `PENDING`, which a cycle can observe. */
  node: SchemaNode;
}

/** Descriptions, and everything else that types cannot express. */
export interface Notes {
  readonly title?: string;
  readonly description?: string;
  /** Wrapped, because `null` is a default too. */
  readonly defaultValue?: { readonly value: JsonValue };
  readonly examples?: readonly JsonValue[];
  readonly format?: string;
  readonly deprecated?: boolean;
  readonly readOnly?: boolean;
  readonly constraints?: Constraints;
  readonly warnings?: readonly string[];
}

export const NO_NOTES: Notes = Object.freeze({});
export const UNKNOWN: Shape = Object.freeze({ kind: 'unknown' });
/** Placeholder for a definition that has not been read yet; compared by identity. */
export const PENDING: SchemaNode = Object.freeze({ shape: UNKNOWN, notes: NO_NOTES });
export const NEVER: Shape = Object.freeze({ kind: 'never' });

/** Follows references to a node that is not a reference. A definition that only refers to itself is `unknown`. */
export function withoutReference(node: SchemaNode): SchemaNode {
  let current = node;
  for (let steps = 0; current.shape.kind === 'reference'; steps += 1) {
    if (steps === 16) return { shape: UNKNOWN, notes: node.notes };
    current = current.shape.definition.node;
  }
  return current;
}
