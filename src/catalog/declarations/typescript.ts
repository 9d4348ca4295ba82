import type { Tool } from '../../domain/tool.js';
import { quoteVisibly } from '../../lib/visible-text.js';
import { exportNames, withoutDuplicates } from '../names.js';
import { type AliasGroup, groupDefinitions, pascalCase } from './aliases.js';
import { commentLine, docComment } from './doc-comment.js';
import type { Detail } from './node-words.js';
import { readSchema } from './schema.js';
import { type Definition, type SchemaModel, type SchemaNode, withoutReference } from './shape.js';
import { propertyDocs, serverDocs, toolDocs } from './typescript-docs.js';
import { TypeWriter } from './typescript-types.js';

export type { Detail };

export interface ServerModule {
  /** Segment under `@codemode/servers/`, as `modulePaths` gives it. */
  readonly path: string;
  /** The id under which the server is configured. */
  readonly serverId: string;
  readonly serverName: string;
  /** What it says of itself. */
  readonly serverDescription?: string;
  readonly tools: readonly Tool[];
  /** Export names by tool name, where they are known already: part of a server's tools keeps the names of the whole. */
  readonly exportNames?: ReadonlyMap<string, string>;
  /** Declared as a namespace of this name instead of a module. */
  readonly namespace?: string;
}

export interface DeclarationWarning {
  readonly toolName: string;
  readonly message: string;
}

export interface ModuleDeclaration {
  /** One `declare module` block. It uses the types of `SHARED_DECLARATIONS`, which are declared once for all modules. */
  readonly text: string;
  readonly warnings: readonly DeclarationWarning[];
}

export interface DeclarationOptions {
  readonly detail?: Detail;
  /** Characters for one tool with the types that it is the first to use; what does not fit is cut to `unknown`. */
  readonly maximumToolCharacters?: number;
  /**
   * A TypeScript type of what a tool has returned so far (`ObservedTypes`), for tools that declare no output. It is
   * written as it is, marked as observed: it must come from our own writer, not from a server.
   */
  readonly observedTypeOf?: ObservedTypeOf;
}

export type ObservedTypeOf = (tool: Tool) => string | undefined;

/** About 5,000 tokens. Of 1,312 real tools 11 are longer in full detail, and none is without its documentation. */
const MAX_TOOL_CHARACTERS = 20_000;
const MODULE_INDENT = '  ';

/**
 * The TypeScript declarations of one server's module: one exported function per tool, and `__meta__`. Everything in the
 * tools is foreign: the text is valid TypeScript whatever their names, descriptions and schemas hold.
 */
export function declareModule(server: ServerModule, options: DeclarationOptions = {}): ModuleDeclaration {
  return new ModuleWriter(server, options).write();
}

/** Global types that every server module's declarations use; they tell the truth about unwrapped results. */
export const SHARED_DECLARATIONS = `/**
 * What a tool returns when it declares no output type: the text, if it answers with one text block (JSON in it is not
 * parsed); its structured value, if it sends one; otherwise the whole MCP result. A failed call throws.
 */
type ToolOutput = string | ToolResult | JsonValue;
interface ToolResult { content: ContentBlock[]; _meta?: Record<string, unknown> }
/** \`data\` and \`blob\` are base64. */
type ContentBlock =
  | { type: "text"; text: string }
  | { type: "image" | "audio"; data: string; mimeType: string }
  | { type: "resource"; resource: { uri: string; mimeType?: string; text?: string; blob?: string } }
  | { type: "resource_link"; uri: string; name: string; description?: string; mimeType?: string };
type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
interface ServerMeta {
  serverId: string;
  serverName: string;
  serverVersion?: string;
  tools: { toolName: string; exportName: string; description?: string }[];
}
`;

/** Names that a definition must not take: the shared ones, and those of TypeScript's that the writer uses. */
const RESERVED_TYPE_NAMES = [
  ...['ToolOutput', 'ToolResult', 'ContentBlock', 'JsonValue', 'ServerMeta'],
  ...['Promise', 'Record', 'Array', 'Object', 'String', 'Number', 'Boolean', 'Symbol', 'Function'],
];

interface ToolPlan {
  readonly tool: Tool;
  readonly exportName: string;
  readonly input: SchemaModel;
  readonly output: SchemaModel | undefined;
  /** Stands in for an output that is not declared. */
  readonly observedType: string | undefined;
}

class ModuleWriter {
  readonly #server: ServerModule;
  readonly #detail: Detail;
  readonly #maximumToolCharacters: number;
  readonly #plans: readonly ToolPlan[];
  readonly #groups: Map<Definition, AliasGroup>;
  readonly #warnings: DeclarationWarning[] = [];
  readonly #names = new Map<AliasGroup, string>();
  readonly #takenNames: Set<string>;
  readonly #nextNumbers = new Map<string, number>();

  constructor(server: ServerModule, options: DeclarationOptions) {
    this.#server = server;
    this.#detail = options.detail ?? 'full';
    this.#maximumToolCharacters = options.maximumToolCharacters ?? MAX_TOOL_CHARACTERS;
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
    );
    this.#takenNames = new Set([...RESERVED_TYPE_NAMES, ...names.values()]);
  }

  write(): ModuleDeclaration {
    const { path, serverId, serverName } = this.#server;
    const title = commentLine(serverName, 80);
    const id = serverId === path ? '' : ` (configured as ${commentLine(quoteVisibly(serverId), 80)})`;
    const words = serverDocs(this.#server.serverDescription ?? '', this.#detail);
    const header = this.#detail === 'signatures' ? '' : docComment([`${title}${id}`, ...words], '');
    const body = this.#plans.map((plan) => this.#tool(plan));
    const meta = `${MODULE_INDENT}export const __meta__: ServerMeta;\n`;
    const blankLine = this.#detail === 'signatures' ? '' : '\n';
    const { namespace } = this.#server;
    const text =
      namespace === undefined
        ? `${header}declare module ${quoteVisibly(`@codemode/servers/${path}`)} {\n${[...body, meta].join(blankLine)}}\n`
        : `${header}declare namespace ${namespace} {\n${body.join(blankLine)}}\n`;
    return { text, warnings: this.#warnings };
  }

  /** One tool, in as much detail as fits: first words are left out, then what is nested deeply, then everything. */
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
    );
    return `${docComment(lines, MODULE_INDENT)}${MODULE_INDENT}export function ${visibleIdentifier(plan.exportName)}(input: unknown): Promise<unknown>;\n`;
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
    const parameters = inputParameters(plan.input, writer);
    const observedType = this.#observedType(plan, maximumDepth);
    const result = observedType === undefined ? outputType(plan.output, writer) : this.#marked(observedType);
    const aliases: string[] = [];
    // The map grows while it is walked: a definition may be the first to name another.
    for (const [group, { name, depth }] of added) {
      aliases.push(aliasDeclaration(name, group.definition.node, writer, detail, depth));
      if (writer.isTooLong) return undefined;
    }
    if (writer.isTooLong) return undefined;
    for (const [group, { name }] of added) {
      this.#names.set(group, name);
      this.#takenNames.add(name);
    }
    const warnings = [...(plan.input.root.notes.warnings ?? [])];
    if (writer.isCut) warnings.push(this.#cutWarning(plan, 'deeply nested parts are cut to unknown'));
    else if (detail !== this.#detail) warnings.push(this.#cutWarning(plan, 'descriptions are left out'));
    const lines = toolDocs(plan.tool, plan.exportName, warnings, this.#detail);
    if (observedType !== undefined && this.#detail !== 'signatures') lines.push(OBSERVED_REMARK);
    const docs = docComment(lines, MODULE_INDENT);
    return `${aliases.join('')}${docs}${MODULE_INDENT}export function ${visibleIdentifier(plan.exportName)}(${parameters}): Promise<${result}>;\n`;
  }

  /** An observation is the first thing to go where a tool does not fit: nobody promised it. */
  #observedType({ observedType }: ToolPlan, maximumDepth: number): string | undefined {
    const isTooLong = observedType !== undefined && observedType.length > this.#maximumToolCharacters / 4;
    if (isTooLong || maximumDepth !== Number.POSITIVE_INFINITY) return undefined;
    return observedType?.replaceAll('\n', `\n${MODULE_INDENT}`);
  }

  /** Signatures have no documentation that could say it. */
  #marked(observedType: string): string {
    return this.#detail === 'signatures' ? `/* observed, not declared */ ${observedType}` : observedType;
  }

  #cutWarning(plan: ToolPlan, loss: string): string {
    const call = `getTool(${quoteVisibly(this.#server.path)}, ${quoteVisibly(plan.tool.name)})`;
    const message = `too large to be declared in full: ${loss}; ${call} of @codemode/discovery has the whole schema`;
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
/** How deep types may still be nested when a tool does not fit, one attempt after the other. */
const CUT_DEPTHS = [8, 5, 3, 2];
/** Warnings of one tool that are passed on. */
const MAX_WARNINGS = 20;

/** Some letters are invisible, and legal: `\u3164` is the same identifier, for everybody to see. */
function visibleIdentifier(name: string): string {
  return quoteVisibly(name).slice(1, -1);
}

function aliasDeclaration(name: string, node: SchemaNode, writer: TypeWriter, detail: Detail, depth: number): string {
  const docs = docComment(propertyDocs(node, detail), MODULE_INDENT);
  const type = writer.type(writer.inPlace(node, depth), MODULE_INDENT, depth);
  const isInterface = node.shape.kind === 'object' && type.startsWith('{');
  return `${docs}${MODULE_INDENT}${isInterface ? `interface ${name} ${type}` : `type ${name} = ${type};`}\n`;
}

function inputParameters(model: SchemaModel, writer: TypeWriter): string {
  const { shape } = withoutReference(model.root);
  // An empty schema takes no argument or `{}`, and so does an object without any property to give.
  if (shape.kind === 'unknown' && model.warnings.length === 0) return 'input?: Record<string, never>';
  const isEmpty = shape.kind === 'object' && shape.properties.size === 0 && shape.patterns.length === 0;
  if (isEmpty && typeof shape.additional === 'string') return 'input?: Record<string, never>';
  return `input${isOptional(model.root) ? '?' : ''}: ${writer.type(writer.inPlace(model.root, 0), MODULE_INDENT, 0)}`;
}

function outputType(model: SchemaModel | undefined, writer: TypeWriter): string {
  if (model === undefined || withoutReference(model.root).shape.kind === 'unknown') return 'ToolOutput';
  return writer.type(writer.inPlace(model.root, 0), MODULE_INDENT, 0);
}

/** Whether `{}` is a valid input, so that the argument may be left out. */
function isOptional(node: SchemaNode): boolean {
  const { shape } = withoutReference(node);
  if (shape.kind === 'unknown') return true;
  if (shape.kind === 'object') return ![...shape.properties.values()].some((property) => property.isRequired);
  if (shape.kind === 'union') return shape.options.some(isOptional);
  return shape.kind === 'intersection' && shape.parts.every(isOptional);
}
