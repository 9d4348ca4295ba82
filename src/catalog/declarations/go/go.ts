import { type Tool, UNUSABLE_OUTPUT } from '../../../domain/tool.js';
import { compareCodePoints } from '../../names.js';
import type { Detail } from '../schema/node-comment.js';
import { readSchema } from '../schema/schema.js';
import { type Definition, type SchemaModel, withoutReference } from '../schema/schema-model.js';
import { type AliasGroup, groupDefinitions } from '../typescript/aliases.js';
import type { DeclarationWarning } from '../typescript/typescript.js';
import type { GoDeclaration } from './go-declaration.js';
import { GO_HELPERS } from './go-helpers.js';
import { goFunctionName, goFunctionNames, goString, goTypeStem } from './go-names.js';
import type { GoType } from './go-shapes.js';
import { functionDocs } from './go-text.js';
import { GoTypeWriter } from './go-types.js';

export type { GoDeclaration } from './go-declaration.js';
export { GO_HELPERS };

/** The tools of one package, declared for the agent and for the compiler. */
export interface GoPackage {
  /** Types come before the first function that uses them; functions in alphabetical order of server and tool. */
  readonly declarations: readonly GoDeclaration[];
  readonly functions: readonly GoFunction[];
  readonly warnings: readonly DeclarationWarning[];
}

export interface GoFunction {
  readonly tool: Tool;
  readonly name: string;
}

export interface GoOptions {
  readonly detail?: Detail;
  /** Maximum characters for one tool with the types that it uses first. The rest is cut. */
  readonly maximumToolCharacters?: number;
  /** The target of a call in the request to the host. */
  readonly targetOf?: (tool: Tool) => string;
  /** Whether calls of a tool need approval. */
  readonly asks?: (tool: Tool) => boolean;
  /** A description of the observed results of a tool without a declared output. */
  readonly observed?: (tool: Tool) => string | undefined;
  /** All tools that names are assigned among, if these are only some of them. */
  readonly among?: readonly Tool[];
}

/** About 5,000 tokens, as for the other languages. */
const MAX_TOOL_CHARACTERS = 20_000;
const MAX_TYPE_NAME = 120;
const DETAILS: readonly Detail[] = ['full', 'compact', 'signatures'];
/** The maximum nesting of types if a tool does not fit, tried in order. */
const CUT_DEPTHS = [Number.POSITIVE_INFINITY, 8, 5, 3, 2, 1, 0];
const MAX_WARNINGS = 20;
/** The names that the generated package declares besides the tools. */
const RESERVED_TYPE_NAMES = ['Run', ...GO_HELPERS.flatMap(({ names }) => names)];

/**
 * Go declarations of any number of tools of any servers, in one package: per tool a function and the types of its input and output.
 * All tool data is untrusted: the text is valid Go in gofmt's layout, whatever their names, descriptions and schemas contain.
 */
export function declareGo(tools: readonly Tool[], options: GoOptions = {}): GoPackage {
  return new PackageWriter(tools, options).write();
}

/** The wanted declarations with all their dependencies, in order. */
export function selectDeclarations(
  declarations: readonly GoDeclaration[],
  isWanted: (name: string) => boolean,
): readonly GoDeclaration[] {
  const byName = new Map(declarations.flatMap((each) => each.names.map((name) => [name, each] as const)));
  const chosen = new Set(declarations.filter(({ names }) => names.some(isWanted)));
  // The set grows during the loop.
  for (const { uses } of chosen) {
    for (const name of uses) {
      const used = byName.get(name);
      if (used !== undefined) chosen.add(used);
    }
  }
  return declarations.filter((each) => chosen.has(each));
}

/** The text for the agent: declarations without bodies. */
export function goText(declarations: readonly GoDeclaration[]): string {
  return declarations.map(({ text }) => text).join('\n');
}

/** The code for the compiler: the file of the package with the tools. The package `codemode` belongs to the worker. */
export function goFile(declarations: readonly GoDeclaration[]): string {
  // Both are used here, so that neither import is unused if there are no tools.
  const head =
    'package main\n\nimport (\n\t"codemode"\n\t"context"\n)\n\nvar (\n\t_ context.Context\n\t_ = codemode.Convert\n)\n';
  return [head, ...declarations.map(({ code }) => code)].join('\n');
}

interface ToolPlan {
  readonly tool: Tool;
  readonly name: string;
  readonly stem: string;
  /** Absent if the tool takes no input. */
  readonly input: SchemaModel | undefined;
  readonly output: SchemaModel | undefined;
  readonly warnings: readonly string[];
}

class PackageWriter {
  readonly #options: GoOptions;
  readonly #plans: readonly ToolPlan[];
  /** How many tools would have each name. */
  readonly #sharing = new Map<string, number>();
  readonly #groups = new Map<Definition, AliasGroup>();
  readonly #taken = new Set(RESERVED_TYPE_NAMES);
  readonly #known = new Map<AliasGroup, GoType>();
  readonly #warnings: DeclarationWarning[] = [];

  constructor(tools: readonly Tool[], options: GoOptions) {
    this.#options = options;
    const byKey = new Map<string, Tool>();
    for (const tool of tools) {
      // A unique text for each pair, ordered by server, then by tool.
      const key = JSON.stringify([tool.serverId, tool.name]);
      if (!byKey.has(key)) byKey.set(key, tool);
      else this.#warn(tool, 'the server lists this name more than once; the first one is used');
    }
    const named = new Map((options.among ?? []).map((tool) => [JSON.stringify([tool.serverId, tool.name]), tool]));
    for (const [key, tool] of byKey) named.set(key, tool);
    const names = goFunctionNames([...named.keys()], (key) => named.get(key) as Tool);
    const servers = new Map<string, ToolPlan[]>();
    for (const [key, name] of names) {
      const tool = byKey.get(key);
      if (tool === undefined) continue;
      const plan = this.#plan(tool, name);
      const others = servers.get(plan.tool.serverId);
      if (others === undefined) servers.set(plan.tool.serverId, [plan]);
      else others.push(plan);
    }
    // Equal definitions of one server are one type. Those of different servers only look alike.
    for (const plans of servers.values()) {
      const roots = plans.flatMap(({ input, output }) => [input, output].flatMap((model) => model?.root ?? []));
      for (const [definition, group] of groupDefinitions(roots)) this.#groups.set(definition, group);
    }
    this.#plans = [...servers.values()].flat();
    for (const tool of named.values()) {
      const wanted = goFunctionName(tool.name);
      this.#sharing.set(wanted, (this.#sharing.get(wanted) ?? 0) + 1);
    }
  }

  write(): GoPackage {
    const declarations = this.#plans.flatMap((plan) => this.#tool(plan));
    const functions = this.#plans
      .map(({ tool, name }): GoFunction => ({ tool, name }))
      .sort((left, right) => compareCodePoints(left.name, right.name));
    return { declarations, functions, warnings: this.#warnings };
  }

  #warn(tool: Tool, message: string): void {
    this.#warnings.push({ toolName: tool.name, message });
  }

  #plan(tool: Tool, name: string): ToolPlan {
    const input = readSchema(tool.inputSchema);
    const output = tool.outputSchema === undefined ? undefined : readSchema(tool.outputSchema);
    const stem = this.#takeStem(goTypeStem(name));
    const warnings = [...input.warnings, ...(output?.warnings ?? [])].slice(0, MAX_WARNINGS);
    for (const { pointer, message } of warnings) this.#warn(tool, `${pointer}: ${message}`);
    return {
      tool,
      name,
      stem,
      input: takesNothing(input) ? undefined : input,
      output: output === undefined || withoutReference(output.root).shape.kind === 'unknown' ? undefined : output,
      warnings: [...(input.root.notes.warnings ?? []), ...(tool.hasUnusableOutput === true ? [UNUSABLE_OUTPUT] : [])],
    };
  }

  /** The names of every tool's own two types are assigned before those of nested types. */
  #takeStem(stem: string): string {
    this.#taken.add(`${stem}Input`).add(`${stem}Output`);
    return stem;
  }

  /** One tool in as much detail as fits. The agent's text and the compiled code always have the same types. */
  #tool(plan: ToolPlan): readonly GoDeclaration[] {
    const maximum = this.#options.maximumToolCharacters ?? MAX_TOOL_CHARACTERS;
    const wanted = this.#options.detail ?? 'full';
    const details = DETAILS.slice(DETAILS.indexOf(wanted));
    const attempts = CUT_DEPTHS.flatMap((depth): (readonly [Detail, number])[] =>
      depth === Number.POSITIVE_INFINITY ? details.map((detail) => [detail, depth] as const) : [['signatures', depth]],
    );
    for (const [detail, depth] of attempts) {
      const added = new Set<string>();
      const nextNumbers = new Map<string, number>();
      const writer = new GoTypeWriter({
        detail,
        maximumDepth: depth,
        groupOf: (definition) => this.#groups.get(definition),
        known: this.#known,
        freeName: (name) => this.#freeName(name, added, nextNumbers),
      });
      if (plan.input !== undefined) writer.root(plan.input.root, `${plan.stem}Input`);
      if (plan.output !== undefined) writer.root(plan.output.root, `${plan.stem}Output`);
      const length = writer.declarations.reduce((sum, { text }) => sum + text.length, 0);
      if (length > maximum && depth > 0) continue;
      for (const name of added) this.#taken.add(name);
      for (const [group, type] of writer.named) this.#known.set(group, type);
      const warnings = [...plan.warnings];
      if (writer.isCut) warnings.push('too large to be declared in full: deeply nested parts are cut to any');
      else if (detail !== wanted) warnings.push('too large to be declared in full: descriptions are left out');
      for (const warning of warnings.slice(plan.warnings.length)) this.#warn(plan.tool, warning);
      return [...writer.declarations, this.#function(plan, warnings)];
    }
    throw new Error('unreachable: without nesting, a tool is always declared');
  }

  #function({ tool, name, stem, input, output }: ToolPlan, warnings: readonly string[]): GoDeclaration {
    const target = this.#options.targetOf?.(tool) ?? `${tool.serverId}/${tool.name}`;
    const parameters = `ctx context.Context${input === undefined ? '' : `, input ${stem}Input`}`;
    const result = output === undefined ? 'string' : `${stem}Output`;
    const call = `codemode.Call(ctx, ${goString(name)}, ${goString(target)}, ${input === undefined ? 'nil' : 'input'}, &output)`;
    const { detail = 'full', asks, observed } = this.#options;
    const seen = output === undefined ? observed?.(tool) : undefined;
    return {
      names: [name],
      uses: [...(input === undefined ? [] : [`${stem}Input`]), ...(output === undefined ? [] : [`${stem}Output`])],
      text: `${functionDocs(name, tool, warnings, detail, { asks: asks?.(tool), isShared: this.#isShared(tool), observed: seen })}var ${name} func(${parameters}) (${result}, error)\n`,
      code: `func ${name}(${parameters}) (output ${result}, err error) {\n\terr = ${call}\n\treturn output, err\n}\n`,
    };
  }

  /** Whether several tools would have its name. One of them has it, and the name does not tell which. */
  #isShared(tool: Tool): boolean {
    return (this.#sharing.get(goFunctionName(tool.name)) ?? 0) > 1;
  }

  #freeName(wanted: string, added: Set<string>, nextNumbers: Map<string, number>): string {
    const base = wanted.slice(0, MAX_TYPE_NAME);
    const isTaken = (name: string) => this.#taken.has(name) || added.has(name);
    let name = base;
    if (isTaken(base)) {
      let number = nextNumbers.get(base) ?? 2;
      while (isTaken(`${base}${number}`)) number += 1;
      nextNumbers.set(base, number + 1);
      name = `${base}${number}`;
    }
    added.add(name);
    return name;
  }
}

/** An empty schema, or an object without any properties, takes no input. */
function takesNothing(model: SchemaModel): boolean {
  const { shape } = withoutReference(model.root);
  if (shape.kind === 'unknown') return model.warnings.length === 0;
  if (shape.kind !== 'object' || shape.properties.size > 0 || shape.patterns.length > 0) return false;
  return typeof shape.additional === 'string';
}
