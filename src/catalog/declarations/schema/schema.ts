import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json.js';
import { readKeywords, type SchemaKeywords } from '../../../domain/json-schema/keywords.js';
import { type References, referencesOf } from '../../../domain/json-schema/references.js';
import { UNUSABLE_INPUT } from '../../../domain/tool.js';
import { circularAliases } from '../typescript/circular-aliases.js';
import { intersect, type MergeBudget, unite } from './combine.js';
import { declaredTypes, KNOWN_TYPES } from './declared-types.js';
import { readNotes, withWarning } from './notes.js';
import {
  type Definition,
  NEVER,
  NO_NOTES,
  type Notes,
  PENDING,
  type SchemaModel,
  type SchemaNode,
  type SchemaWarning,
  type Shape,
  UNKNOWN,
} from './schema-model.js';
import { readArray, readObject } from './structures.js';

/** How much of one untrusted schema is read. The rest becomes `unknown`, with a warning. */
export const SCHEMA_BOUNDS = {
  /** Nested schemas. The deepest of 1,555 real ones has 17 levels. */
  depth: 48,
  /** Schemas of any kind in one document. The largest real one has 2,300. */
  nodes: 20_000,
  definitions: 1_000,
  enumValues: 200,
  unionOptions: 100,
  /** Properties that merging `allOf` may touch. */
  merges: 50_000,
} as const;

/**
 * Reads an untrusted JSON Schema, draft-04 to 2020-12 with the usual mistakes, into shapes. It never throws and never fetches, and
 * its time is bounded for any input.
 */
export function readSchema(schema: JsonValue | undefined): SchemaModel {
  return new SchemaReader(isJsonObject(schema) ? schema : {}).read(schema ?? true);
}

/** The reader's position: escaped tokens, joined to a JSON Pointer only for a warning. */
interface Place {
  readonly parent?: Place;
  readonly token: string;
  readonly depth: number;
}

class SchemaReader {
  readonly #root: JsonObject;
  readonly #references: References;
  readonly #definitions = new Map<JsonValue, Definition>();
  readonly #unread: Definition[] = [];
  readonly #begun = new Set<Definition>();
  readonly #warnings: SchemaWarning[] = [];
  readonly #merges: MergeBudget = { remaining: SCHEMA_BOUNDS.merges };
  #nodes = 0;

  constructor(root: JsonObject) {
    this.#root = root;
    this.#references = referencesOf(root);
  }

  read(schema: JsonValue): SchemaModel {
    this.#defineTargets(this.#root, 0);
    const root = this.#node(schema, { token: '#', depth: 0 });
    // The list grows during the loop: a definition may name further ones.
    for (const definition of this.#unread) this.#readDefinition(definition, 0);
    for (const definition of circularAliases([...this.#definitions.values()])) {
      const message = 'refers only to itself';
      definition.node = { shape: UNKNOWN, notes: withWarning(definition.node.notes, message) };
      this.#warnings.push({ pointer: definition.pointer, message });
    }
    return { root, warnings: this.#warnings };
  }

  /** One schema at one place. */
  #node(schema: JsonValue, place: Place): SchemaNode {
    if (schema === true) return { shape: UNKNOWN, notes: NO_NOTES };
    if (schema === false) return { shape: NEVER, notes: NO_NOTES };
    if (!isJsonObject(schema)) return this.#unrepresentable(place, 'this is not a schema');
    const definition = this.#definitions.get(schema);
    if (definition !== undefined)
      return { shape: { kind: 'reference', definition }, notes: readNotes(readKeywords(schema)) };
    return this.#body(schema, place);
  }

  #child(schema: JsonValue, place: Place, token: string): SchemaNode {
    return this.#node(schema, { parent: place, token, depth: place.depth + 1 });
  }

  #unrepresentable(place: Place, message: string, notes: Notes = NO_NOTES): SchemaNode {
    return { shape: UNKNOWN, notes: this.#warn(place, message, notes) };
  }

  #warn(place: Place, message: string, notes: Notes): Notes {
    this.#warnings.push({ pointer: pointerOf(place), message });
    return withWarning(notes, message);
  }

  /** The content of a schema itself, ignoring references to it. */
  #body(schema: JsonObject, place: Place): SchemaNode {
    const keywords = readKeywords(schema);
    let notes = readNotes(keywords);
    this.#nodes += 1;
    if (place.depth > SCHEMA_BOUNDS.depth)
      return this.#unrepresentable(place, 'nested too deeply to be declared', notes);
    if (this.#nodes > SCHEMA_BOUNDS.nodes)
      return this.#unrepresentable(place, 'the schema is too large to be declared', notes);
    for (const warning of notes.warnings ?? []) this.#warnings.push({ pointer: pointerOf(place), message: warning });

    if (schema.$comment === UNUSABLE_INPUT.$comment) notes = this.#warn(place, UNUSABLE_INPUT.$comment, notes);
    const types = declaredTypes(keywords);
    const strange = types.find((type) => !KNOWN_TYPES.has(type));
    if (strange !== undefined) notes = this.#warn(place, `the type ${JSON.stringify(strange)} is not known`, notes);

    for (const keyword of malformedKeywords(keywords, types))
      notes = this.#warn(place, `${keyword} is not what JSON Schema says, and is left out`, notes);

    let node: SchemaNode = { shape: this.#ownShape(types, keywords, place), notes };
    for (const reference of keywords.references ?? [])
      node = this.#both(node, this.#reference(reference, schema, place), place);
    for (const key of ['anyOf', 'oneOf'] as const) {
      const options = keywords[key];
      if (options !== undefined) node = this.#both(node, this.#options(options, place, key), place);
    }
    for (const [index, part] of keywords.allOf?.entries() ?? [])
      node = this.#both(node, this.#child(part, place, `allOf/${index}`), place);
    node = this.#narrowToValues(node, keywords, place);
    if (keywords.isNullable && node.shape.kind !== 'unknown') {
      node = {
        shape: unite([
          { shape: node.shape, notes: NO_NOTES },
          { shape: { kind: 'null' }, notes: NO_NOTES },
        ]).shape,
        notes: node.notes,
      };
    }
    return node;
  }

  /** Both must hold. A reference to be merged is read first, because it may still be queued. */
  #both(first: SchemaNode, second: SchemaNode, place: Place): SchemaNode {
    if (first.shape.kind !== 'unknown') {
      for (const { shape } of [first, second]) {
        if (shape.kind === 'reference') this.#readDefinition(shape.definition, place.depth + 1);
      }
    }
    return intersect(first, second, this.#merges);
  }

  #options(options: readonly JsonValue[], place: Place, keyword: string): SchemaNode {
    if (options.length > SCHEMA_BOUNDS.unionOptions) {
      return this.#unrepresentable(place, `one of ${options.length} forms, too many to be declared`);
    }
    return unite(options.map((option, index) => this.#child(option, place, `${keyword}/${index}`)));
  }

  /** `enum` and `const`: the values that the rest of the schema allows. */
  #narrowToValues(node: SchemaNode, { constant, enumeration }: SchemaKeywords, place: Place): SchemaNode {
    const values = constant !== undefined ? [constant] : enumeration;
    if (values === undefined) return node;
    if (values.length > SCHEMA_BOUNDS.enumValues) {
      return {
        shape: node.shape,
        notes: this.#warn(place, `one of ${values.length} values, too many to be declared`, node.notes),
      };
    }
    const unique = [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
    const literals: SchemaNode = {
      shape: unique.length === 0 ? NEVER : { kind: 'literals', values: unique },
      notes: NO_NOTES,
    };
    const narrowed = intersect(node, literals, this.#merges);
    if (narrowed.shape.kind !== 'never' || unique.length === 0) return narrowed;
    return { shape: literals.shape, notes: this.#warn(place, 'these values do not fit the declared type', node.notes) };
  }

  #reference(reference: string, at: JsonObject, place: Place): SchemaNode {
    const resolved = this.#references.resolve(reference, at);
    if (resolved === undefined) {
      const isRemote = !reference.startsWith('#');
      return this.#unrepresentable(
        place,
        isRemote ? 'refers to another document' : `refers to ${reference}, which is not there`,
      );
    }
    if (!isJsonObject(resolved.target)) return this.#node(resolved.target, place);
    const definition = this.#define(resolved.pointer, resolved.target);
    if (definition === undefined) return this.#unrepresentable(place, 'the schema has too many definitions');
    return { shape: { kind: 'reference', definition }, notes: NO_NOTES };
  }

  #define(pointer: string, target: JsonObject): Definition | undefined {
    const known = this.#definitions.get(target);
    if (known !== undefined) return known;
    if (this.#definitions.size >= SCHEMA_BOUNDS.definitions) return undefined;
    const definition: Definition = { pointer, source: target, node: PENDING };
    this.#definitions.set(target, definition);
    this.#unread.push(definition);
    return definition;
  }

  /** Finds every reference target in advance, so that a place referred to from elsewhere is a reference itself. */
  #defineTargets(value: JsonValue, depth: number): void {
    if (typeof value !== 'object' || value === null || depth > SCHEMA_BOUNDS.depth * 2) return;
    if (isJsonObject(value) && typeof value.$ref === 'string') {
      const resolved = this.#references.resolve(value.$ref, value);
      if (resolved !== undefined && isJsonObject(resolved.target)) this.#define(resolved.pointer, resolved.target);
    }
    for (const child of Array.isArray(value) ? value : Object.values(value)) this.#defineTargets(child, depth + 1);
  }

  #readDefinition(definition: Definition, depth: number): void {
    // Too deep to be read here: it is read later, and is placed beside the other part instead of merged into it.
    if (this.#begun.has(definition) || depth > SCHEMA_BOUNDS.depth) return;
    this.#begun.add(definition);
    definition.node = this.#body(definition.source as JsonObject, { token: definition.pointer, depth });
  }

  /** The shape from `type` and its keywords, without combinators. */
  #ownShape(types: readonly string[], keywords: SchemaKeywords, place: Place): Shape {
    const [only] = types;
    if (only === undefined) return UNKNOWN;
    if (types.length === 1) return this.#typeShape(only, keywords, place);
    const shapes = types.map(
      (type): SchemaNode => ({ shape: this.#typeShape(type, keywords, place), notes: NO_NOTES }),
    );
    return unite(shapes).shape;
  }

  #typeShape(type: string, keywords: SchemaKeywords, place: Place): Shape {
    const readChild = (child: JsonValue, token: string) => this.#child(child, place, token);
    switch (type) {
      case 'object':
        return readObject(keywords, readChild);
      case 'array':
        return readArray(keywords, readChild);
      case 'string':
      case 'number':
      case 'integer':
      case 'boolean':
      case 'null':
        return { kind: type };
      default:
        return UNKNOWN;
    }
  }
}

/** Keywords of this type whose values cannot be read. */
function malformedKeywords({ malformed = [] }: SchemaKeywords, types: readonly string[]): readonly string[] {
  const isOfType = (keyword: string) => types.includes(keyword === 'properties' ? 'object' : 'array');
  return malformed.filter((keyword) => (keyword !== 'properties' && keyword !== 'items') || isOfType(keyword));
}

function pointerOf(place: Place): string {
  return place.parent === undefined ? place.token : `${pointerOf(place.parent)}/${place.token}`;
}
