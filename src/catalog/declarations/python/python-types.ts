import { PYTHON_KEYWORDS } from '../../package-names.js';
import type { Definition, ObjectShape, SchemaNode } from '../schema/schema-model.js';
import { type AliasGroup, pascalCase } from '../typescript/aliases.js';
import { propertyDocs } from '../typescript/typescript-docs.js';
import { literalAlternatives, PYTHON_CONSTANTS, pythonComment, pythonString } from './python-text.js';

export interface PythonTypeOptions {
  readonly hasDocs: boolean;
  /** Objects nested deeper than this become `dict[str, Any]`. */
  readonly maximumDepth: number;
  /** Beyond this many characters the text is useless, and the rest is only closed. */
  readonly maximumCharacters: number;
  readonly groupOf: (definition: Definition) => AliasGroup | undefined;
  /** The name of a definition. It then has to be defined. */
  readonly nameOf: (group: AliasGroup, depth: number) => string;
  /** An unused name, for an object that the schema does not name. */
  readonly freeName: (wanted: string) => string;
}

const MAX_NAME_CHARACTERS = 80;
/** The maximum nesting without an object in between. No real schema has more. */
const MAX_NESTING = 50;

/**
 * Writes shapes as types for stub files, where a name may be used before it is defined. Python has no inline object type: each
 * object gets a named `TypedDict`.
 */
export class PythonTypeWriter {
  readonly #options: PythonTypeOptions;
  /** Classes and aliases, one text each. */
  readonly definitions: string[] = [];
  #characters = 0;
  #nesting = 0;
  #isCut = false;

  constructor(options: PythonTypeOptions) {
    this.#options = options;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  get isTooLong(): boolean {
    return this.#characters > this.#options.maximumCharacters;
  }

  /** Defines this name as the type of a node. */
  define(name: string, node: SchemaNode, depth: number): void {
    if (isTypedDict(node)) this.#typedDict(name, node, node.shape as ObjectShape, depth);
    else this.#add(`${this.#docs(node, '')}${name}: TypeAlias = ${this.type(node, name, depth)}\n`);
  }

  /** The type of a node; `name` is used for an object in it. */
  type(node: SchemaNode, name: string, depth: number): string {
    // Python allows at most 200 nested brackets.
    if (this.#nesting >= MAX_NESTING) return 'Any';
    this.#nesting += 1;
    const alternatives = this.#alternatives(node, name, depth);
    this.#nesting -= 1;
    if (alternatives.has('Any')) return 'Any';
    if (alternatives.delete('None')) alternatives.add('None');
    return [...alternatives].join(' | ');
  }

  #alternatives(node: SchemaNode, name: string, depth: number): Set<string> {
    if (this.isTooLong) return new Set(['Any']);
    const { shape } = node;
    switch (shape.kind) {
      case 'literals':
        return this.#counted(literalAlternatives(shape.values));
      case 'array':
        return this.#counted([`list[${this.type(shape.item, `${name}Item`, depth)}]`]);
      case 'tuple': {
        // A JSON array is a list in Python, whatever its elements are.
        const items = [...shape.elements, ...(shape.rest === undefined ? [] : [shape.rest])];
        return this.#counted([`list[${united(items.map((item) => this.type(item, `${name}Item`, depth)))}]`]);
      }
      case 'object':
        return this.#object(node, shape, name, depth);
      case 'union':
        return new Set(shape.options.flatMap((option) => [...this.#alternatives(option, name, depth)]));
      case 'intersection': {
        // Python has no intersection type.
        const isObject = shape.parts.some(({ shape: part }) => part.kind === 'object' || part.kind === 'reference');
        return new Set([isObject ? 'dict[str, Any]' : 'Any']);
      }
      case 'reference':
        return this.#reference(shape.definition, name, depth);
      default:
        return this.#counted([PLAIN_TYPES[shape.kind]]);
    }
  }

  #reference(definition: Definition, name: string, depth: number): Set<string> {
    const group = this.#options.groupOf(definition);
    if (group === undefined) return new Set(['Any']);
    const { node } = group.definition;
    if (!group.isNamed && !isTypedDict(node)) return this.#alternatives(node, name, depth);
    if (depth >= this.#options.maximumDepth) return this.#cut();
    const own = this.#options.nameOf(group, depth);
    return this.#counted(isTypedDict(node) && isOpen(node) ? [own, 'dict[str, Any]'] : [own]);
  }

  #object(node: SchemaNode, shape: ObjectShape, name: string, depth: number): Set<string> {
    if (!isTypedDict(node)) return this.#counted([`dict[str, ${this.#otherKeys(shape, name, depth)}]`]);
    if (depth >= this.#options.maximumDepth) return this.#cut();
    const own = this.#options.freeName(name.slice(0, MAX_NAME_CHARACTERS));
    this.#typedDict(own, node, shape, depth);
    return new Set(isOpen(node) ? [own, 'dict[str, Any]'] : [own]);
  }

  #typedDict(name: string, node: SchemaNode, shape: ObjectShape, depth: number): void {
    const outer = this.#nesting;
    this.#nesting = 0;
    const members = [...shape.properties].map(([key, property]) => {
      const type = this.type(property.node, `${name}${pascalCase(key) || 'Value'}`, depth + 1);
      return {
        key,
        docs: this.#docs(property.node, '    '),
        type: property.isRequired ? type : `NotRequired[${type}]`,
      };
    });
    this.#nesting = outer;
    const remark = isOpen(node) && this.#options.hasDocs ? '#: Other keys are allowed too.\n' : '';
    const head = `${this.#docs(node, '')}${remark}`;
    const used = new Set(members.flatMap(({ type }) => type.match(/\w+/g) ?? []));
    if (members.every(({ key }) => isFieldName(key) && !used.has(key))) {
      const fields = members.map(({ key, docs, type }) => `${docs}    ${key}: ${type}\n`);
      this.#add(`${head}class ${name}(TypedDict):\n${fields.join('')}`);
      return;
    }
    // Keys that are not valid field names, or that would shadow a type in the following lines.
    const entries = members.map(({ key, docs, type }) => `${docs}    ${pythonString(key)}: ${type},\n`);
    this.#add(`${head}${name} = TypedDict(${pythonString(name)}, {\n${entries.join('')}})\n`);
  }

  #otherKeys({ additional, patterns }: ObjectShape, name: string, depth: number): string {
    const nodes = patterns.map((pattern) => pattern.node);
    if (typeof additional !== 'string') nodes.push(additional);
    return united(nodes.map((node) => this.type(node, `${name}Value`, depth + 1)));
  }

  #docs(node: SchemaNode, indent: string): string {
    if (!this.#options.hasDocs) return '';
    const lines = propertyDocs(node, 'full').map((line) => line.replace(/(^| )@integer(?: |$)/, '$1').trim());
    return pythonComment(
      lines.filter((line) => line !== ''),
      indent,
    );
  }

  #cut(): Set<string> {
    this.#isCut = true;
    return new Set(['dict[str, Any]']);
  }

  #add(text: string): void {
    this.#characters += text.length;
    this.definitions.push(text);
  }

  #counted(types: readonly string[]): Set<string> {
    for (const type of types) this.#characters += type.length;
    return new Set(types);
  }
}

const PLAIN_TYPES = {
  unknown: 'Any',
  never: 'Never',
  string: 'str',
  number: 'float',
  integer: 'int',
  boolean: 'bool',
  null: 'None',
} as const;

/** Whether it has named properties. */
export function isTypedDict({ shape }: SchemaNode): boolean {
  return shape.kind === 'object' && shape.properties.size > 0;
}

/** Whether additional keys are explicitly allowed: no `TypedDict` can express that. */
export function isOpen({ shape }: SchemaNode): boolean {
  return shape.kind === 'object' && (typeof shape.additional !== 'string' || shape.patterns.length > 0);
}

function united(types: readonly string[]): string {
  const all = new Set(types);
  return all.has('Any') || all.size === 0 ? 'Any' : [...all].join(' | ');
}

/** Two leading underscores would be mangled. Non-ASCII letters would be normalised. */
function isFieldName(key: string): boolean {
  return /^(?!__)[A-Za-z_][A-Za-z0-9_]*$/.test(key) && !PYTHON_KEYWORDS.has(key) && !PYTHON_CONSTANTS.includes(key);
}
