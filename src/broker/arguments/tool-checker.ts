import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import { escapeToken } from '../../domain/json-schema/references.js';
import type { GuestError } from '../../domain/run.js';
import type { Tool } from '../../domain/tool.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { clipText, quoteVisibly } from '../../lib/text/visible-text.js';
import { byRelevance } from './by-relevance.js';
import { type CompiledSchema, compileSchema } from './compile.js';
import { findProblems } from './evaluate.js';
import { explain } from './explain.js';
import { type Place, type Problem, pointerOf, tokensOf } from './problem.js';
import { ANYTHING, type Rule, typeOf } from './rule.js';

/** Makes an input that fits a schema and includes the named properties: `exampleInput` of the catalog. */
export type ExampleMaker = (schema: JsonValue | undefined, including?: readonly string[]) => JsonValue;

export type ArgumentCheck = { readonly ok: true } | { readonly ok: false; readonly error: GuestError };

/**
 * Checks programs' arguments and tools' answers against the tools' own schemas. It exists to help programs: a part of a schema
 * that can't be enforced is skipped, and the tool stays usable. This is not a security control, and policy must not rely on it.
 */
export class ToolChecker {
  readonly #exampleOf: ExampleMaker;
  readonly #compiled = new WeakMap<JsonObject, CompiledSchema>();

  constructor(exampleOf: ExampleMaker) {
    this.#exampleOf = exampleOf;
  }

  /** Whether the tool accepts this input. No input means `{}`, unless the tool expects something other than an object. */
  checkArguments(tool: Tool, exportName: string, input: JsonValue | undefined): ArgumentCheck {
    const { inputSchema } = tool;
    if (inputSchema === undefined) return { ok: true };
    const { root } = this.#compile(inputSchema);
    const problems = this.#problems(root, input);
    return problems.length === 0 ? { ok: true } : { ok: false, error: this.#error(tool, exportName, root, problems) };
  }

  /**
   * What is wrong with the structured content of a successful answer, in one sentence. It contains types and places, never
   * values, because warnings are logged.
   */
  checkOutput(tool: Tool, structuredContent: JsonValue | undefined): string | undefined {
    if (tool.outputSchema === undefined) return undefined;
    const { root } = this.#compile(tool.outputSchema);
    const name = shownName(tool.name);
    if (structuredContent === undefined) {
      return root === ANYTHING ? undefined : `${name} declares an output schema but sent no structured content.`;
    }
    const [problem] = byRelevance(findProblems(root, structuredContent));
    if (problem === undefined) return undefined;
    const received = problem.value === undefined ? 'nothing' : typeOf(problem.value);
    const { expected } = explain(problem);
    const place = declaredPlace(problem.place);
    return `The result of ${name} breaks the tool's own output schema${place}: expected ${expected}, received ${received}.`;
  }

  /** Which parts of a tool's schemas are not enforced, and why. Empty for nearly every tool. */
  warningsOf(tool: Tool): readonly string[] {
    return [tool.inputSchema, tool.outputSchema].flatMap((schema) =>
      schema === undefined ? [] : this.#compile(schema).warnings,
    );
  }

  #compile(schema: JsonObject): CompiledSchema {
    const known = this.#compiled.get(schema);
    if (known !== undefined) return known;
    const compiled = compileSafely(schema);
    this.#compiled.set(schema, compiled);
    return compiled;
  }

  #problems(root: Rule, input: JsonValue | undefined): readonly Problem[] {
    if (input !== undefined) return byRelevance(findProblems(root, input));
    return byRelevance(findProblems(root, {})).map((problem) =>
      pointerOf(problem.place) === '' && problem.fault.kind === 'type' ? { ...problem, value: undefined } : problem,
    );
  }

  #error(tool: Tool, exportName: string, root: Rule, problems: readonly Problem[]): GuestError {
    const [problem, ...others] = problems as readonly [Problem, ...Problem[]];
    const { expected, received, advice } = explain(problem);
    const path = pointerOf(problem.place);
    const example = this.#example(tool, root, problem);
    const exampleText = example === undefined ? '' : ` Example: ${exportName}(${JSON.stringify(example)})`;
    const toolText = tool.name === exportName ? '' : ` (tool ${shownName(tool.name)})`;
    return {
      errorClass: 'SchemaValidationError',
      message: `Invalid input for ${exportName}${toolText}${placeText(problem)}: expected ${expected}, received ${received}.${othersText(others)}${exampleText}`,
      hint: advice,
      fields: {
        toolName: tool.name,
        exportName,
        path,
        expected,
        received,
        ...omitUndefined({ example }),
      },
    };
  }

  /** An example that fits the schema and contains the wrong property, if one can be made; otherwise without that property. */
  #example(tool: Tool, root: Rule, problem: Problem): JsonValue | undefined {
    const [property] = tokensOf(problem.place);
    // The schema author's own example comes first, if it contains the property.
    const attempts = typeof property === 'string' ? [[], [property], []] : [[]];
    for (const [attempt, including] of attempts.entries()) {
      const example = this.#exampleOf(tool.inputSchema, including);
      if (attempt === 0 && typeof property === 'string' && !shows(example, property)) continue;
      const isShort = JSON.stringify(example).length <= MAX_EXAMPLE_CHARACTERS;
      if (isShort && findProblems(root, example).length === 0) return example;
    }
    return undefined;
  }
}

function shows(example: JsonValue, property: string): boolean {
  if (!isJsonObject(example) || !Object.hasOwn(example, property)) return false;
  const value = example[property];
  return !(Array.isArray(value) && value.length === 0);
}

/** A longer example would bury the message. */
const MAX_EXAMPLE_CHARACTERS = 2_000;
/** How many problems are reported besides the first, so that a program can be corrected in one go. */
const MAX_OTHERS = 3;

/** The compiler does not throw. If it ever does, the tool must stay usable. */
function compileSafely(schema: JsonObject): CompiledSchema {
  try {
    return compileSchema(schema);
  } catch {
    return { root: ANYTHING, warnings: ['#: this schema could not be read, and is not enforced'] };
  }
}

function othersText(others: readonly Problem[]): string {
  if (others.length === 0) return '';
  const shown = others.slice(0, MAX_OTHERS).map((problem) => {
    const { expected, received } = explain(problem);
    return clipText(`${placeText(problem).trim()}: expected ${expected}, received ${received}`, 160);
  });
  const more = others.length > MAX_OTHERS ? `; and ${others.length - MAX_OTHERS} more` : '';
  return ` Also ${shown.join('; ')}${more}.`;
}

function placeText(problem: Problem): string {
  const pointer = pointerOf(problem.place);
  return pointer === '' ? '' : ` at ${clipText(quoteVisibly(pointer).slice(1, -1), 120)}`;
}

/** The place of a problem in a result, without keys that the schema does not name: those are data. */
function declaredPlace(place: Place): string {
  const tokens: string[] = [];
  for (let at = place; at.parent !== undefined; at = at.parent) {
    const isDeclared = typeof at.token === 'number' || at.rule?.object?.properties.has(at.token) === true;
    tokens.unshift(isDeclared ? escapeToken(String(at.token)) : '*');
  }
  return tokens.length === 0 ? '' : ` at ${clipText(quoteVisibly(`/${tokens.join('/')}`).slice(1, -1), 120)}`;
}

function shownName(name: string): string {
  return clipText(quoteVisibly(name), 80);
}
