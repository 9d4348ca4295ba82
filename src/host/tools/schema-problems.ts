import { compileSchema } from '../../broker/arguments/compile.js';
import { findProblems } from '../../broker/arguments/evaluate.js';
import { explain } from '../../broker/arguments/explain.js';
import { tokensOf } from '../../broker/arguments/problem.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';

export interface SchemaProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Checks values against a JSON Schema as the broker does: patterns of strangers cost no more time than others. */
export function schemaChecker(schema: JsonObject): (value: JsonValue) => readonly SchemaProblem[] {
  const { root } = compileSchema(schema);
  return (value) =>
    findProblems(root, value).map((problem) => {
      const { expected, received } = explain(problem);
      return { path: tokensOf(problem.place), message: `expected ${expected}, received ${received}` };
    });
}
