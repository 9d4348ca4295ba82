import { compileSchema } from '../../broker/arguments/compile.js';
import { findProblems } from '../../broker/arguments/evaluate.js';
import { explain } from '../../broker/arguments/explain.js';
import { tokensOf } from '../../broker/arguments/problem.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';

export interface SchemaProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Validates values against a JSON Schema as the broker does: untrusted patterns cannot cost extra time. */
export function schemaChecker(schema: JsonObject): (value: JsonValue) => readonly SchemaProblem[] {
  const { root } = compileSchema(schema);
  return (value) =>
    findProblems(root, value).map((problem) => {
      const { expected, received } = explain(problem);
      return { path: tokensOf(problem.place), message: `expected ${expected}, received ${received}` };
    });
}
