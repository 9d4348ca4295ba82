import type { Detail } from '../schema/node-comment.js';
import type { Definition } from '../schema/schema-model.js';
import type { AliasGroup } from '../typescript/aliases.js';
import type { GoType } from './go-shapes.js';

/** One declaration of the generated package, in both its forms. */
export interface GoDeclaration {
  /** Everything it declares: a function, a type, or a type and its constants. */
  readonly names: readonly string[];
  /** Names of other declarations that it needs. */
  readonly uses: readonly string[];
  /** What the agent reads. */
  readonly text: string;
  /** What is compiled. */
  readonly code: string;
}

export interface GoTypeWriterOptions {
  readonly detail: Detail;
  /** Objects nested deeper than this become `any`. */
  readonly maximumDepth: number;
  readonly groupOf: (definition: Definition) => AliasGroup | undefined;
  /** Definitions that were declared before. */
  readonly known: ReadonlyMap<AliasGroup, GoType>;
  /** A name that nothing else has, from now on taken. */
  readonly freeName: (wanted: string) => string;
}
