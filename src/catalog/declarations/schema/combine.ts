import { conforms, isSameJson } from './conforms.js';
import { mergeNotes, withWarning } from './notes.js';
import {
  NEVER,
  NO_NOTES,
  type ObjectProperty,
  type ObjectShape,
  PENDING,
  type SchemaNode,
  type Shape,
  UNKNOWN,
  withoutReference,
} from './schema-model.js';

/** The remaining merge work for one schema: `allOf` over `allOf` can require any amount. */
export interface MergeBudget {
  remaining: number;
}

/** A union over more than this many properties is left as `base & (a | b)`: distributed, it would only repeat itself. */
const MAX_DISTRIBUTED_PROPERTIES = 24;

/** Either of them: flat, without duplicates and impossible options, `null` last. */
export function unite(options: readonly SchemaNode[]): SchemaNode {
  const kept: SchemaNode[] = [];
  let hasPlainNull = false;
  for (const option of options.flatMap(flatOptions)) {
    if (option.shape.kind === 'unknown') return { shape: UNKNOWN, notes: NO_NOTES };
    if (option.shape.kind === 'never') continue;
    if (isPlainNull(option)) hasPlainNull = true;
    else if (!kept.some((other) => isSameOption(other, option))) addOption(kept, option);
  }
  if (hasPlainNull) kept.push({ shape: { kind: 'null' }, notes: NO_NOTES });
  const [only] = kept;
  if (only === undefined) return { shape: NEVER, notes: NO_NOTES };
  return kept.length === 1 ? only : { shape: { kind: 'union', options: kept }, notes: NO_NOTES };
}

/** Both of them: objects are merged, unions are distributed if the result stays short. */
export function intersect(first: SchemaNode, second: SchemaNode, budget: MergeBudget, isNested = false): SchemaNode {
  const notes = mergeNotes(first.notes, second.notes);
  if (first.shape === second.shape || second.shape.kind === 'unknown') return { shape: first.shape, notes };
  if (first.shape.kind === 'unknown') return { shape: second.shape, notes };
  if (first.shape.kind === 'never' || second.shape.kind === 'never') return { shape: NEVER, notes };
  budget.remaining -= 1;
  const merged = budget.remaining < 0 ? undefined : intersectShapes(first, second, budget, isNested);
  if (merged === undefined)
    return { shape: { kind: 'intersection', parts: [first, second].flatMap(flatParts) }, notes };
  if (merged.kind === 'never') return { shape: NEVER, notes: withWarning(notes, 'no value can satisfy this schema') };
  return { shape: merged, notes };
}

/** `undefined` if the two cannot be merged. */
function intersectShapes(
  left: SchemaNode,
  right: SchemaNode,
  budget: MergeBudget,
  isNested: boolean,
): Shape | undefined {
  // Below the top, references stay: otherwise `next` of two recursive types would be merged forever.
  const first = resolveForMerge(left, isNested);
  const second = resolveForMerge(right, isNested);
  if (first === undefined || second === undefined) return undefined;
  if (first.kind === 'intersection' || second.kind === 'intersection') return undefined;
  if (first.kind === 'union') return distribute(second, first.options, budget, isNested);
  if (second.kind === 'union') return distribute(first, second.options, budget, isNested);
  if (first.kind === 'literals') return filterLiterals(first.values, second);
  if (second.kind === 'literals') return filterLiterals(second.values, first);
  if (first.kind === 'object' && second.kind === 'object') return mergeObjects(first, second, budget);
  if (first.kind === 'array' && second.kind === 'array') {
    return { kind: 'array', item: intersect(first.item, second.item, budget, true) };
  }
  if (first.kind === 'tuple' && (second.kind === 'array' || second.kind === 'tuple')) return first;
  if (second.kind === 'tuple' && first.kind === 'array') return second;
  if (first.kind === second.kind) return first;
  if (isNumeric(first) && isNumeric(second)) return { kind: 'integer' };
  return NEVER;
}

function resolveForMerge(node: SchemaNode, isNested: boolean): Shape | undefined {
  if (node.shape.kind !== 'reference') return node.shape;
  if (isNested || node.shape.definition.node === PENDING) return undefined;
  const resolved = withoutReference(node);
  return resolved === PENDING ? undefined : resolved.shape;
}

function distribute(
  base: Shape,
  options: readonly SchemaNode[],
  budget: MergeBudget,
  isNested: boolean,
): Shape | undefined {
  if (base.kind === 'object' && base.properties.size * options.length > MAX_DISTRIBUTED_PROPERTIES) {
    const isOnlyObjects = options.every((option) => withoutReference(option).shape.kind === 'object');
    if (isOnlyObjects) return undefined;
  }
  const baseNode: SchemaNode = { shape: base, notes: NO_NOTES };
  const possible = options
    .map((option) => intersect(option, baseNode, budget, isNested))
    .filter((option) => option.shape.kind !== 'never');
  return unite(possible).shape;
}

function mergeObjects(first: ObjectShape, second: ObjectShape, budget: MergeBudget): ObjectShape | undefined {
  budget.remaining -= first.properties.size + second.properties.size;
  if (budget.remaining < 0) return undefined;
  const properties = new Map<string, ObjectProperty>(first.properties);
  for (const [name, property] of second.properties) {
    const existing = properties.get(name);
    properties.set(
      name,
      existing === undefined
        ? property
        : {
            node: intersect(existing.node, property.node, budget, true),
            isRequired: existing.isRequired || property.isRequired,
          },
    );
  }
  return {
    kind: 'object',
    properties,
    additional: mergeAdditional(first.additional, second.additional, budget),
    patterns: [...first.patterns, ...second.patterns],
  };
}

function mergeAdditional(
  first: ObjectShape['additional'],
  second: ObjectShape['additional'],
  budget: MergeBudget,
): ObjectShape['additional'] {
  if (first === 'closed' || second === 'closed') return 'closed';
  if (first === 'unstated') return second;
  return second === 'unstated' ? first : intersect(first, second, budget, true);
}

function filterLiterals(values: readonly JsonLiteral[], other: Shape): Shape {
  const node: SchemaNode = { shape: other, notes: NO_NOTES };
  const fitting = values.filter((value) => conforms(node, value));
  return fitting.length === 0 ? NEVER : { kind: 'literals', values: fitting };
}

type JsonLiteral = Extract<Shape, { kind: 'literals' }>['values'][number];

function flatOptions(node: SchemaNode): readonly SchemaNode[] {
  return node.shape.kind === 'union' && node.notes === NO_NOTES ? node.shape.options : [node];
}

function flatParts(node: SchemaNode): readonly SchemaNode[] {
  return node.shape.kind === 'intersection' ? node.shape.parts : [node];
}

function isPlainNull(node: SchemaNode): boolean {
  const { shape } = node;
  return shape.kind === 'null' || (shape.kind === 'literals' && shape.values.length === 1 && shape.values[0] === null);
}

function isNumeric(shape: Shape): boolean {
  return shape.kind === 'number' || shape.kind === 'integer';
}

function isSameOption(left: SchemaNode, right: SchemaNode): boolean {
  if (left.shape === right.shape) return true;
  if (left.shape.kind === 'reference' && right.shape.kind === 'reference') {
    return left.shape.definition === right.shape.definition;
  }
  const isScalar = ['string', 'number', 'integer', 'boolean'].includes(left.shape.kind);
  return isScalar && left.shape.kind === right.shape.kind && left.notes === NO_NOTES && right.notes === NO_NOTES;
}

/** Literals without a comment are joined to the literals before them. */
function addOption(kept: SchemaNode[], option: SchemaNode): void {
  const last = kept.at(-1);
  const canJoin = option.shape.kind === 'literals' && option.notes === NO_NOTES;
  if (!canJoin || last?.shape.kind !== 'literals' || last.notes !== NO_NOTES) {
    kept.push(option);
    return;
  }
  const known = last.shape.values;
  const added = (option.shape as { values: readonly JsonLiteral[] }).values.filter(
    (value) => !known.some((other) => isSameJson(other, value)),
  );
  kept[kept.length - 1] = { shape: { kind: 'literals', values: [...known, ...added] }, notes: NO_NOTES };
}
