import type { Tool } from '../../../domain/tool.js';
import { quoteVisibly } from '../../../lib/text/visible-text.js';
import { exportNames, withoutDuplicates } from '../../names.js';
import { commentLine, docComment } from '../doc-comment.js';
import { isOptional, takesAnyObject, takesNothing } from '../schema/input.js';
import type { Detail } from '../schema/node-comment.js';
import { readSchema } from '../schema/schema.js';
import { type Definition, type SchemaModel, type SchemaNode, withoutReference } from '../schema/schema-model.js';
import { type AliasGroup, groupDefinitions, pascalCase } from './aliases.js';
import { parameterDocs, parameterList, parametersOf } from './positional.js';
import { propertyDocs, serverDocs, toolDocs } from './typescript-docs.js';
import {
  AMBIENT_MODULE,
  BRIEF_MODULE,
  CHECKED_FILE,
  type ModuleFrame,
  PACKAGE_FILE,
  SCRIPT_CALLS,
} from './typescript-frames.js';
import { TypeWriter } from './typescript-types.js';

export type { Detail };

export interface ServerModule {
  /** Segment under `@codemode/servers/`, as `modulePaths` returns it. */
  readonly path: string;
  /** The configured id of the server. */
  readonly serverId: string;
  readonly serverName: string;
  /** The server's own description. */
  readonly serverDescription?: string;
  readonly tools: readonly Tool[];
  /** Export names by tool name, if already assigned: a part of a server's tools keeps the names of the whole. */
  readonly exportNames?: ReadonlyMap<string, string>;
  /** Export names of the whole server, if these are only a part of its tools. */
  readonly allExportNames?: ReadonlySet<string>;
  /** Names of tools whose calls need approval. */
  readonly asking?: ReadonlySet<string>;
  /** The name of a namespace to declare instead of a module. */
  readonly namespace?: string;
}

export interface DeclarationWarning {
  readonly toolName: string;
  readonly message: string;
}

export interface ModuleDeclaration {
  /** One `declare module` block. Uses the types of `SHARED_DECLARATIONS`, which are declared once for all modules. */
  readonly text: string;
  readonly warnings: readonly DeclarationWarning[];
}

export interface DeclarationOptions {
  readonly detail?: Detail;
  /** Maximum characters for one tool with the types that it uses first. The rest is cut to `unknown`. */
  readonly maximumToolCharacters?: number;
  /**
   * A TypeScript type of the observed results of a tool (`ObservedTypes`), for tools that declare no output. It is written
   * unchanged and marked as observed: it must come from our own writer, not from a server.
   */
  readonly observedTypeOf?: ObservedTypeOf;
  /** Example calls that are shown above a tool. They must come from our own writer. */
  readonly examplesOf?: (tool: Tool) => readonly string[];
  /** Definitions keep their names also where their types could be written in place. */
  readonly namesAll?: boolean;
}

export type ObservedTypeOf = (tool: Tool) => string | undefined;

/** About 5,000 tokens. Of 1,312 real tools 11 are longer in full detail, and none without its documentation. */
const MAX_TOOL_CHARACTERS = 20_000;

/**
 * The TypeScript declarations of one server's module: one exported function per tool, and `__meta__`. All tool data is untrusted:
 * the text is valid TypeScript whatever their names, descriptions and schemas contain.
 */
export function declareModule(server: ServerModule, options: DeclarationOptions = {}): ModuleDeclaration {
  return new ModuleWriter(server, options, AMBIENT_MODULE).write();
}

/** The same for a model to read. */
export function declareBriefModule(server: ServerModule, options: DeclarationOptions = {}): ModuleDeclaration {
  return new ModuleWriter(server, options, BRIEF_MODULE).write();
}

/**
 * The same as a file beside the module, `servers/<path>/index.d.ts`: functions return the whole MCP result, and the shared types
 * come from the client.
 */
export function declarePackageFile(server: ServerModule, options: DeclarationOptions = {}): ModuleDeclaration {
  return new ModuleWriter(server, options, PACKAGE_FILE).write();
}

/** The same for the type checker: only types, in a file of its own. */
export function declareCheckedFile(server: ServerModule, options: DeclarationOptions = {}): ModuleDeclaration {
  return new ModuleWriter(server, { ...options, detail: 'signatures' }, CHECKED_FILE).write();
}

/** The same for scripts, which call every tool through one function. */
export function declareScriptCalls(server: ServerModule, options: DeclarationOptions = {}): ModuleDeclaration {
  const ownNames = new Map(server.tools.map(({ name }) => [name, name]));
  return new ModuleWriter({ ...server, exportNames: ownNames }, options, SCRIPT_CALLS).write();
}

interface ToolPlan {
  readonly tool: Tool;
  readonly exportName: string;
  readonly input: SchemaModel;
  readonly output: SchemaModel | undefined;
  /** Replaces an output that is not declared. */
  readonly observedType: string | undefined;
}

class ModuleWriter {
  readonly #server: ServerModule;
  readonly #frame: ModuleFrame;
  readonly #detail: Detail;
  readonly #maximumToolCharacters: number;
  readonly #examplesOf: (tool: Tool) => readonly string[];
  readonly #plans: readonly ToolPlan[];
  readonly #groups: Map<Definition, AliasGroup>;
  readonly #warnings: DeclarationWarning[] = [];
  readonly #names = new Map<AliasGroup, string>();
  readonly #takenNames: Set<string>;
  readonly #exportNames: ReadonlySet<string>;
  readonly #nextNumbers = new Map<string, number>();

  constructor(server: ServerModule, options: DeclarationOptions, frame: ModuleFrame) {
    this.#server = server;
    this.#frame = frame;
    this.#detail = options.detail ?? 'full';
    this.#maximumToolCharacters = options.maximumToolCharacters ?? MAX_TOOL_CHARACTERS;
    this.#examplesOf = options.examplesOf ?? (() => []);
    const { tools, duplicates } = withoutDuplicates(server.tools);
    for (const toolName of duplicates) {
      this.#warnings.push({ toolName, message: 'the server lists this name more than once; the first one is used' });
    }
    const names = server.exportNames ?? exportNames(tools.map((tool) => tool.name));
    this.#plans = tools.map((tool) => ({
      tool,
      exportName: names.get(tool.name) as string,
      input: readSchema(tool.inputSchema),
      output: tool.outputSchema === undefined ? undefined : readSchema(tool.outputSchema),
      observedType: tool.outputSchema === undefined ? options.observedTypeOf?.(tool) : undefined,
    }));
    this.#groups = groupDefinitions(
      this.#plans.flatMap(({ input, output }) => (output === undefined ? [input.root] : [input.root, output.root])),
      options.namesAll,
    );
    this.#exportNames = server.allExportNames ?? new Set(names.values());
    this.#takenNames = new Set([...frame.reservedTypeNames, ...names.values()]);
  }

  write(): ModuleDeclaration {
    const { path, serverId, serverName } = this.#server;
    const title = commentLine(serverName, 80);
    const id =
      serverId === path || serverId === serverName ? '' : ` (configured as ${commentLine(quoteVisibly(serverId), 80)})`;
    const words = serverDocs(this.#server.serverDescription ?? '', this.#detail);
    const header = this.#detail === 'signatures' ? '' : docComment([`${title}${id}`, ...words], '');
    const body = this.#plans.map((plan) => this.#tool(plan));
    const { ending } = this.#frame;
    const blankLine = this.#detail === 'signatures' ? '' : '\n';
    const { namespace } = this.#server;
    const text =
      namespace === undefined
        ? `${header}${this.#frame.open(path)}${[...body, ...ending].join(blankLine)}${this.#frame.close}`
        : `${header}declare namespace ${namespace} {\n${body.join(blankLine)}}\n`;
    return { text, warnings: this.#warnings };
  }

  /** One tool, in as much detail as fits: first documentation is left out, then deeply nested types, then everything. */
  #tool(plan: ToolPlan): string {
    for (const { pointer, message } of [...plan.input.warnings, ...(plan.output?.warnings ?? [])].slice(
      0,
      MAX_WARNINGS,
    )) {
      this.#warnings.push({ toolName: plan.tool.name, message: `${pointer}: ${message}` });
    }
    const attempts: [Detail, number][] = [
      ...DETAILS.slice(DETAILS.indexOf(this.#detail)).map((detail): [Detail, number] => [
        detail,
        Number.POSITIVE_INFINITY,
      ]),
      ...CUT_DEPTHS.map((depth): [Detail, number] => ['signatures', depth]),
    ];
    for (const [detail, depth] of attempts) {
      const text = this.#attempt(plan, detail, depth);
      if (text !== undefined) return text;
    }
    const lines = toolDocs(
      plan.tool,
      plan.exportName,
      [this.#cutWarning(plan, 'the types are left out')],
      this.#detail,
      { asks: this.#asks(plan), isNumbered: this.#isNumbered(plan) },
    );
    const { indent, resultType } = this.#frame;
    const result = resultType(undefined) === 'ToolOutput' ? 'unknown' : resultType(undefined);
    return `${docComment(lines, indent)}${this.#declared(plan, `${this.#frame.parameterName}: unknown`, result)}`;
  }

  /** Whether several tools have this name and are numbered. The first of them has no number. */
  #isNumbered({ exportName }: ToolPlan): boolean {
    return /__\d+$/.test(exportName) || this.#exportNames.has(`${exportName}__2`);
  }

  #attempt(plan: ToolPlan, detail: Detail, maximumDepth: number): string | undefined {
    const added = new Map<AliasGroup, { readonly name: string; readonly depth: number }>();
    const writer = new TypeWriter({
      detail,
      maximumDepth,
      maximumCharacters: this.#maximumToolCharacters,
      groupOf: (definition) => this.#groups.get(definition),
      nameOf: (group, depth) => {
        const known = this.#names.get(group) ?? added.get(group)?.name;
        if (known !== undefined) return known;
        const name = this.#freeName(group.suggestedName || pascalCase(plan.exportName), added);
        added.set(group, { name, depth });
        return name;
      },
    });
    const { indent, resultType } = this.#frame;
    const parameter = inputParameter(plan, writer, this.#frame);
    const observedType = this.#observedType(plan, maximumDepth);
    const result =
      observedType === undefined ? resultType(outputType(plan.output, writer, indent)) : this.#marked(observedType);
    const aliases: string[] = [];
    // The map grows during the loop: a definition may be the first to name another.
    for (const [group, { name, depth }] of added) {
      aliases.push(aliasDeclaration(name, group.definition.node, writer, { detail, depth, indent }));
      if (writer.isTooLong) return undefined;
    }
    if (writer.isTooLong) return undefined;
    for (const [group, { name }] of added) {
      this.#names.set(group, name);
      this.#takenNames.add(name);
    }
    const ofOutput = (plan.output?.root.notes.warnings ?? []).map((warning) => `output: ${warning}`);
    const warnings = [...(plan.input.root.notes.warnings ?? []), ...ofOutput];
    if (writer.isCut) warnings.push(this.#cutWarning(plan, 'deeply nested parts are cut to unknown'));
    else if (detail !== this.#detail) warnings.push(this.#cutWarning(plan, 'descriptions are left out'));
    const lines = toolDocs(plan.tool, plan.exportName, warnings, this.#detail, {
      asks: this.#asks(plan),
      isNumbered: this.#isNumbered(plan),
    });
    if (observedType !== undefined && this.#detail !== 'signatures') lines.push(OBSERVED_REMARK);
    for (const example of this.#examplesOf(plan.tool)) lines.push(`@example ${example}`);
    const byName = `${aliases.join('')}${docComment(lines, indent)}${this.#declared(plan, parameter, result)}`;
    // Only members of a namespace can be called by position.
    const positional = this.#server.namespace === undefined ? undefined : parametersOf(plan.tool, plan.input);
    if (positional === undefined || detail !== 'full') return byName;
    const marks = plan.tool.deprecated === true ? ['@deprecated'] : [];
    const docs = docComment([...parameterDocs(positional), ...marks], indent);
    return `${byName}${docs}${this.#declared(plan, parameterList(positional), result)}`;
  }

  #declared({ tool, exportName }: ToolPlan, parameter: string, result: string): string {
    const { indent, declare } = this.#frame;
    const names = { serverId: quoteVisibly(this.#server.serverId), toolName: quoteVisibly(tool.name) };
    return `${indent}${declare({ ...names, name: visibleIdentifier(exportName), parameter, result })}`;
  }

  /** If a tool does not fit, its observed type is left out first, because nobody promised it. */
  #observedType({ observedType }: ToolPlan, maximumDepth: number): string | undefined {
    const isTooLong = observedType !== undefined && observedType.length > this.#maximumToolCharacters / 4;
    if (isTooLong || maximumDepth !== Number.POSITIVE_INFINITY) return undefined;
    return observedType?.replaceAll('\n', `\n${this.#frame.indent}`);
  }

  /** Signatures have no documentation in which to state this. */
  #marked(observedType: string): string {
    return this.#detail === 'signatures' ? `/* observed, not declared */ ${observedType}` : observedType;
  }

  #asks({ tool }: ToolPlan): boolean {
    return this.#server.asking?.has(tool.name) === true;
  }

  #cutWarning(plan: ToolPlan, loss: string): string {
    const call = this.#frame.schemaCall(quoteVisibly(this.#server.path), quoteVisibly(plan.tool.name));
    const message = `too large to be declared in full: ${loss}; ${call} has the whole schema`;
    this.#warnings.push({ toolName: plan.tool.name, message });
    return message;
  }

  #freeName(wanted: string, added: ReadonlyMap<AliasGroup, { readonly name: string }>): string {
    const base = wanted === '' ? 'Type' : wanted;
    const pending = new Set([...added.values()].map(({ name }) => name));
    const isTaken = (name: string) => this.#takenNames.has(name) || pending.has(name);
    if (!isTaken(base)) return base;
    let number = this.#nextNumbers.get(base) ?? 2;
    while (isTaken(`${base}${number}`)) number += 1;
    this.#nextNumbers.set(base, number + 1);
    return `${base}${number}`;
  }
}

const OBSERVED_REMARK = 'Observed, not declared: the result type is what earlier calls returned; others may differ.';
const DETAILS: readonly Detail[] = ['full', 'compact', 'signatures'];
/** The maximum nesting of types if a tool does not fit, tried in order. */
const CUT_DEPTHS = [8, 5, 3, 2];
/** Maximum number of warnings per tool. */
const MAX_WARNINGS = 20;

/** Some legal letters are invisible. Written as `\u3164`, the identifier is the same and visible. */
function visibleIdentifier(name: string): string {
  return quoteVisibly(name).slice(1, -1);
}

export function aliasDeclaration(
  name: string,
  node: SchemaNode,
  writer: TypeWriter,
  { detail, depth, indent }: { readonly detail: Detail; readonly depth: number; readonly indent: string },
): string {
  const docs = docComment(propertyDocs(node, detail), indent);
  const type = writer.type(writer.inPlace(node, depth), indent, depth);
  const isInterface = node.shape.kind === 'object' && type.startsWith('{');
  return `${docs}${indent}${isInterface ? `interface ${name} ${type}` : `type ${name} = ${type};`}\n`;
}

function inputParameter(plan: ToolPlan, writer: TypeWriter, { parameterName, indent }: ModuleFrame): string {
  const { input: model, tool } = plan;
  if (takesNothing(model) && !takesAnyObject(model, tool.inputSchema))
    return `${parameterName}?: Record<string, never>`;
  return `${parameterName}${isOptional(model.root) ? '?' : ''}: ${writer.type(writer.inPlace(model.root, 0), indent, 0)}`;
}

function outputType(model: SchemaModel | undefined, writer: TypeWriter, indent: string): string | undefined {
  if (model === undefined || withoutReference(model.root).shape.kind === 'unknown') return undefined;
  return writer.type(writer.inPlace(model.root, 0), indent, 0);
}
