import type { Definition, SchemaNode } from '../schema/schema-model.js';
import { type AliasGroup, groupDefinitions } from './aliases.js';
import { aliasDeclaration } from './typescript.js';
import { TypeWriter } from './typescript-types.js';

/** Objects nested deeper than this become `unknown`. */
const MAX_DEPTH = 12;
const MAX_CHARACTERS = 20_000;

/** Writes the types of several schemas one by one, and declares the definitions that they refer to by name. */
export class NamedTypes {
  readonly #groups: ReadonlyMap<Definition, AliasGroup>;
  readonly #names = new Map<Definition, string>();
  /** By name; a definition may be the first to name another. */
  readonly #declared = new Map<string, string>();

  /** `namesAll`: each definition is written by its name. Otherwise only those that have to be. */
  constructor(roots: readonly SchemaNode[], namesAll: boolean) {
    this.#groups = groupDefinitions(roots, namesAll);
  }

  typeOf(node: SchemaNode): string {
    const writer = this.#writer();
    return writer.type(writer.inPlace(node, 0), '', 0);
  }

  /** The declarations of the names that the types so far refer to. */
  declarations(): ReadonlyMap<string, string> {
    return this.#declared;
  }

  #writer(): TypeWriter {
    return new TypeWriter({
      detail: 'signatures',
      maximumDepth: MAX_DEPTH,
      maximumCharacters: MAX_CHARACTERS,
      groupOf: (definition) => this.#groups.get(definition),
      nameOf: ({ definition, suggestedName }) =>
        this.#names.get(definition) ?? this.#declare(definition, suggestedName),
    });
  }

  #declare(definition: Definition, suggestedName: string): string {
    const base = suggestedName === '' ? 'Type' : suggestedName;
    let name = base;
    for (let number = 2; this.#declared.has(name); number += 1) name = `${base}${number}`;
    this.#names.set(definition, name);
    this.#declared.set(name, '');
    const settings = { detail: 'signatures', depth: 0, indent: '' } as const;
    this.#declared.set(name, aliasDeclaration(name, definition.node, this.#writer(), settings).trimEnd());
    return name;
  }
}
