import type { JsonValue } from '../../../domain/json.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { commentLine } from '../doc-comment.js';
import { onlyOption } from '../schema/node-comment.js';
import { mergeNotes } from '../schema/notes.js';
import {
  type Definition,
  NO_NOTES,
  type ObjectShape,
  type SchemaNode,
  type TupleShape,
  UNKNOWN,
  withoutReference,
} from '../schema/schema-model.js';
import type { AliasGroup } from '../typescript/aliases.js';
import type { GoDeclaration, GoTypeWriterOptions } from './go-declaration.js';
import { goFieldNames, goNamePart, goString, goValueNames } from './go-names.js';
import {
  ANY,
  enumBase,
  type GoType,
  isOpen,
  isStruct,
  isZeroAbsent,
  needsPointer,
  optionName,
  scalarOf,
  tagOption,
  unfinished,
} from './go-shapes.js';
import { enumText, type GoConstant, type GoField, structText, typeDocs } from './go-text.js';

const BASIC: ReadonlySet<string> = new Set(['string', 'float64', 'int', 'bool']);
/** Types named in the remark about a union. */
const MAX_NAMED_OPTIONS = 8;

/** Writes shapes as Go types, and declares the types that need a name in Go: structs and enumerations. */
export class GoTypeWriter {
  readonly #options: GoTypeWriterOptions;
  readonly #uses: Set<string>[] = [];
  readonly declarations: GoDeclaration[] = [];
  /** Definitions that were declared here. */
  readonly named = new Map<AliasGroup, GoType>();
  isCut = false;
  #root = '';

  constructor(options: GoTypeWriterOptions) {
    this.#options = options;
  }

  /** `name` is used if the type needs a name. */
  type(node: SchemaNode, name: string, depth: number): GoType {
    const { shape } = node;
    switch (shape.kind) {
      case 'unknown':
      case 'never':
      case 'null':
        return ANY;
      case 'string':
        return { text: 'string', absence: 'empty', isNullable: false };
      case 'number':
        return { text: 'float64', absence: isZeroAbsent(node, 0) ? 'empty' : 'pointed', isNullable: false };
      case 'integer':
        return { text: 'int', absence: isZeroAbsent(node, 0) ? 'empty' : 'pointed', isNullable: false };
      case 'boolean':
        return { text: 'bool', absence: isZeroAbsent(node, false) ? 'empty' : 'pointed', isNullable: false };
      case 'literals':
        return this.#literals(shape.values, name);
      case 'array':
        return { text: `[]${this.#element(shape.item, `${name}Item`, depth)}`, absence: 'nil', isNullable: false };
      case 'tuple':
        return this.#tuple(shape, name, depth);
      case 'object':
        return this.#object(shape, name, depth);
      case 'union':
        return this.#union(shape.options, name, depth);
      case 'intersection':
        return this.#intersection(node, shape.parts, name, depth);
      case 'reference':
        return this.#reference(node, shape.definition, name, depth);
    }
  }

  /** Declares one root of a tool under exactly this name, with its dependencies. */
  root(node: SchemaNode, name: string): void {
    this.#root = name;
    this.#declareAs(this.#inPlace(node), name, 0);
  }

  /** The names that are used while one declaration is written. */
  #collectUses(make: () => void): string[] {
    const uses = new Set<string>();
    this.#uses.push(uses);
    make();
    this.#uses.pop();
    return [...uses];
  }

  #use(name: string): string {
    this.#uses.at(-1)?.add(name);
    return name;
  }

  /** The node with the descriptions of the definitions that are inlined in it. */
  #inPlace(node: SchemaNode): SchemaNode {
    let current = node;
    for (let steps = 0; current.shape.kind === 'reference' && steps < 16; steps += 1) {
      const group = this.#options.groupOf(current.shape.definition);
      if (group === undefined || group.isNamed) break;
      current = { shape: group.definition.node.shape, notes: mergeNotes(current.notes, group.definition.node.notes) };
    }
    return current;
  }

  /** Declares a type of this name: as its own type if possible, else as an alias. */
  #declareAs(node: SchemaNode, name: string, depth: number): GoType {
    // A recursive `X | null` must be a struct directly: before Go 1.20 no alias may be part of a cycle.
    const { shape } = onlyOption(node);
    if (shape.kind === 'object' && isStruct(shape) && depth < this.#options.maximumDepth) {
      this.#struct(shape, name, depth, depth === 0 ? '' : typeDocs(name, node, undefined, this.#options.detail));
      return { text: name, absence: 'pointed', isNullable: shape !== node.shape };
    }
    const base = shape.kind === 'literals' ? enumBase(shape.values) : undefined;
    if (shape.kind === 'literals' && base !== undefined) {
      const docs = depth === 0 ? '' : typeDocs(name, node, undefined, this.#options.detail);
      const declared = this.#enum(shape.values, base, name, docs);
      return { ...declared, isNullable: declared.isNullable || shape !== node.shape };
    }
    const place = this.declarations.length;
    let type = ANY;
    const uses = this.#collectUses(() => {
      type = this.type(node, `${name}Value`, depth);
    });
    const docs = typeDocs(name, node, type.remark, this.#options.detail);
    // Lists and maps can be recursive only as types of their own. Everything else is an alias.
    const isOwnType = type.text.startsWith('[]') || type.text.startsWith('map[');
    const code = `type ${name} ${isOwnType ? '' : '= '}${type.text}\n`;
    this.declarations.splice(place, 0, { names: [name], uses, text: docs + code, code });
    const { remark: _, ...rest } = type;
    return { ...rest, text: name };
  }

  #reference(node: SchemaNode, definition: Definition, name: string, depth: number): GoType {
    const group = this.#options.groupOf(definition);
    if (group === undefined) return ANY;
    if (!group.isNamed) {
      const whole = { shape: group.definition.node.shape, notes: mergeNotes(node.notes, group.definition.node.notes) };
      return this.type(whole, name, depth);
    }
    if (depth >= this.#options.maximumDepth) return this.#cut();
    let known = this.named.get(group) ?? this.#options.known.get(group);
    if (known === undefined) {
      const own = this.#options.freeName(`${this.#root}${goNamePart(group.suggestedName) || 'Type'}`);
      // It may contain itself: until it is declared, its shape is used.
      const body = withoutReference(group.definition.node);
      this.named.set(group, unfinished(own, body));
      const declared = this.#declareAs(body, own, depth);
      known = group.isRecursive && declared.absence === 'pointed' ? { ...declared, isRecursive: true } : declared;
      this.named.set(group, known);
    }
    this.#use(known.text);
    return known;
  }

  #cut(): GoType {
    this.isCut = true;
    return ANY;
  }

  #object(shape: ObjectShape, name: string, depth: number): GoType {
    if (!isStruct(shape)) return this.#map(shape, name, depth);
    if (depth >= this.#options.maximumDepth) return this.#cut();
    const own = this.#options.freeName(name);
    this.#struct(shape, own, depth, '');
    return { text: this.#use(own), absence: 'pointed', isNullable: false };
  }

  #map({ properties, additional, patterns }: ObjectShape, name: string, depth: number): GoType {
    const values = [
      ...(typeof additional === 'string' ? [] : [additional]),
      ...patterns.map((pattern) => pattern.node),
    ].map((value) => this.#element(value, `${name}Value`, depth));
    const [first] = values;
    const isUniform = properties.size === 0 && first !== undefined && values.every((value) => value === first);
    const keys = [...properties.keys()].map((key) => JSON.stringify(key)).join(', ');
    return {
      text: `map[string]${isUniform ? first : 'any'}`,
      absence: 'nil',
      isNullable: false,
      ...(keys === '' ? {} : { remark: commentLine(`Keys: ${keys}.`, 300) }),
    };
  }

  #struct(shape: ObjectShape, name: string, depth: number, docs: string): void {
    const place = this.declarations.length;
    const names = goFieldNames([...shape.properties.keys()]);
    const fields: GoField[] = [];
    const additional = isOpen(shape) ? additionalName(names) : undefined;
    const uses = this.#collectUses(() => {
      for (const [property, { node, isRequired }] of shape.properties) {
        const inPlace = this.#inPlace(node);
        const type = this.type(inPlace, `${name}${goNamePart(property)}`, depth + 1);
        fields.push({
          name: names.get(property) as string,
          type: `${needsPointer(type, isRequired) ? '*' : ''}${type.text}`,
          tag: `json:"${property}${tagOption(type, isRequired)}"`,
          node: inPlace,
          ...omitUndefined({ remark: type.remark }),
        });
      }
      if (additional !== undefined) fields.push(this.#additional(shape, name, additional, depth + 1));
    });
    const method = additional === undefined ? '' : openMethods(name, additional, [...shape.properties.keys()]);
    this.declarations.splice(place, 0, {
      names: [name],
      uses,
      text: docs + structText(name, fields, this.#options.detail),
      code: structText(name, fields.map(withoutRemark), 'signatures') + method,
    });
  }

  /** The field for additional keys, so that no part of an object is lost. */
  #additional(shape: ObjectShape, name: string, own: string, depth: number): GoField {
    const { text } = this.#map({ ...shape, properties: new Map() }, `${name}${own}`, depth);
    return {
      name: own,
      type: text,
      tag: 'json:"-" codemode:"additional"',
      node: { shape: UNKNOWN, notes: NO_NOTES },
      remark: 'All other keys of the object.',
    };
  }

  /** The type of an array's elements or a map's values; `null` among them needs a pointer. */
  #element(node: SchemaNode, name: string, depth: number): string {
    const type = this.type(this.#inPlace(node), name, depth);
    return type.isNullable && type.absence !== 'nil' ? `*${type.text}` : type.text;
  }

  #tuple({ elements, requiredCount, rest }: TupleShape, name: string, depth: number): GoType {
    const types = elements.map((element, index) => this.#element(element, `${name}${index + 1}`, depth));
    const others = rest === undefined ? [] : [this.#element(rest, `${name}Rest`, depth)];
    const [first] = types;
    const isUniform = first !== undefined && [...types, ...others].every((type) => type === first);
    if (isUniform && others.length === 0 && requiredCount === elements.length && BASIC.has(first))
      return { text: `[${elements.length}]${first}`, absence: 'pointed', isNullable: false };
    if (isUniform) return { text: `[]${first}`, absence: 'nil', isNullable: false };
    const list = [...types, ...others.map((type) => `${type}...`)].join(', ');
    return { text: '[]any', absence: 'nil', isNullable: false, remark: commentLine(`Holds, in order: ${list}.`, 300) };
  }

  /** Go has no unions: one option beside `null` becomes that type, anything else becomes `any` with the options named. */
  #union(options: readonly SchemaNode[], name: string, depth: number): GoType {
    const others = options.map((option) => this.#inPlace(option)).filter((option) => option.shape.kind !== 'null');
    const isNullable = others.length < options.length;
    const [only] = others;
    if (others.length === 1 && only !== undefined) {
      const type = this.type(only, name, depth);
      return { ...type, isNullable: isNullable || type.isNullable };
    }
    const kinds = new Set(others.map(({ shape }) => scalarOf(shape)));
    const [kind] = kinds;
    if (kinds.size === 1 && kind !== undefined) {
      return { text: kind, absence: kind === 'string' ? 'empty' : 'pointed', isNullable };
    }
    const types = new Set(
      others.map((option, index) => this.#element(option, `${name}${optionName(option, index)}`, depth)),
    );
    const named = [...types].filter((type) => type !== 'any').slice(0, MAX_NAMED_OPTIONS);
    if (named.length === 0) return ANY;
    const more = types.size > named.length ? ', or something else' : '';
    return { ...ANY, isNullable, remark: commentLine(`One of: ${named.join(', ')}${more}.`, 400) };
  }

  /** Parts that could not be merged: the part with fields is used. */
  #intersection(node: SchemaNode, parts: readonly SchemaNode[], name: string, depth: number): GoType {
    const candidates = parts.map((part) => this.#inPlace(part));
    const best =
      candidates.find(({ shape }) => shape.kind === 'object' && isStruct(shape)) ??
      candidates.find(({ shape }) => shape.kind === 'reference');
    if (best === undefined) return ANY;
    return this.type({ shape: best.shape, notes: mergeNotes(node.notes, best.notes) }, name, depth);
  }

  #literals(values: readonly JsonValue[], name: string): GoType {
    const others = values.filter((value) => value !== null);
    const isNullable = others.length < values.length;
    if (others.length === 0) return ANY;
    if (others.every((value) => typeof value === 'boolean')) return { text: 'bool', absence: 'pointed', isNullable };
    const base = enumBase(values);
    if (base !== undefined) return this.#enum(values, base, this.#options.freeName(name), '');
    const list = others.map((value) => JSON.stringify(value)).join(', ');
    return { ...ANY, isNullable, remark: commentLine(`One of: ${list}.`, 400) };
  }

  #enum(values: readonly JsonValue[], base: string, own: string, docs: string): GoType {
    const others = values.filter((value) => value !== null);
    const suffixes = goValueNames(others.map(String));
    const constants = others.map(
      (value): GoConstant => ({
        name: this.#options.freeName(`${own}${suffixes.get(String(value))}`),
        value: value as string | number,
      }),
    );
    const code = enumText(own, base, constants);
    this.declarations.push({ names: [own, ...constants.map((each) => each.name)], uses: [], text: docs + code, code });
    const hasZero = others.some((value) => value === '' || value === 0);
    const isNullable = others.length < values.length;
    return { text: this.#use(own), absence: hasZero ? 'pointed' : 'empty', isNullable };
  }
}

/** A name that no other field has. */
function additionalName(fields: ReadonlyMap<string, string>): string {
  const taken = new Set(fields.values());
  let name = 'Additional';
  while (taken.has(name)) name += 'Keys';
  return name;
}

function openMethods(name: string, additional: string, properties: readonly string[]): string {
  const names = properties.map((property) => `, ${goString(property)}`).join('');
  return `
func (v *${name}) UnmarshalJSON(data []byte) error {
	type plain ${name}
	return codemode.DecodeOpen(data, (*plain)(v), &v.${additional}${names})
}

func (v ${name}) MarshalJSON() ([]byte, error) {
	type plain ${name}
	return codemode.EncodeOpen(plain(v))
}
`;
}

function withoutRemark({ remark: _, ...field }: GoField): GoField {
  return field;
}
