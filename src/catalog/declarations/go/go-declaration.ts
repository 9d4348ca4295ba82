import type { Detail } from '../schema/node-comment.js';
import type { Definition } from '../schema/schema-model.js';
import type { AliasGroup } from '../typescript/aliases.js';
import type { GoType } from './go-shapes.js';

/** One declaration of the generated package, in both its forms. */
export interface GoDeclaration {
  /** All names it declares: a function, a type, or a type and its constants. */
  readonly names: readonly string[];
  /** Names of other declarations that it needs. */
  readonly uses: readonly string[];
  /** The text for the agent. */
  readonly text: string;
  /** The code for the compiler. */
  readonly code: string;
}

export interface GoTypeWriterOptions {
  readonly detail: Detail;
  /** Objects nested deeper than this become `any`. */
  readonly maximumDepth: number;
  readonly groupOf: (definition: Definition) => AliasGroup | undefined;
  /** Definitions that were already declared. */
  readonly known: ReadonlyMap<AliasGroup, GoType>;
  /** Returns an unused name and reserves it. */
  readonly freeName: (wanted: string) => string;
}
