import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { Tool, ToolAnnotations } from '../../domain/tool.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { type Body, type BodyProperty, bodyOf, chooseMediaType, FILE_SCHEMA } from './body.js';
import type { Method, OperationSource } from './operations.js';
import { type Parameter, type Preset, parametersOf } from './parameters.js';
import type { Pointers } from './pointer.js';
import type { SchemaRegistry, SchemaScope } from './schemas.js';

/** The limits of the text that a model reads about one tool. */
const MAX_DESCRIPTION_CHARACTERS = 8_000;
const MAX_TAGS = 20;
const MAX_TAG_CHARACTERS = 100;

/** How the arguments of a tool become a call of its operation. */
export interface Plan {
  readonly source: OperationSource;
  readonly parameters: readonly { readonly argument: string; readonly parameter: Parameter }[];
  readonly body?: PlannedBody;
  readonly inputSchema: JsonObject;
  /** The operation needs no authentication. */
  readonly isOpen: boolean;
}

export interface PlannedBody extends Body {
  /** The argument that holds the whole body, if there is one. */
  readonly argument?: string;
  /** The arguments that hold its properties. */
  readonly parts?: readonly { readonly argument: string; readonly property: BodyProperty }[];
}

/** What plans are built from. */
export interface PlanParts {
  readonly document: JsonObject;
  readonly pointers: Pointers;
  readonly schemas: SchemaRegistry;
  readonly presets: readonly Preset[];
}

export function planOf(source: OperationSource, { document, pointers, schemas, presets }: PlanParts): Plan {
  const scope = schemas.open('input');
  const taken = new Set<string>();
  const properties = new Map<string, JsonValue>();
  const required: string[] = [];
  const declare = (argument: string, schema: JsonValue, isRequired: boolean): void => {
    properties.set(argument, schema);
    if (isRequired) required.push(argument);
  };

  const parameters = parametersOf(source, pointers, presets).map((parameter) => {
    const argument = freeName(parameter.name, parameter.in, taken);
    declare(argument, described(scope.read(parameter.schema), parameter), parameter.isRequired);
    return { argument, parameter };
  });
  const found = bodyOf(source, pointers);
  const body = found === undefined ? undefined : planBody(found, scope, taken, declare);
  const security = source.operation.security ?? document.security;
  return {
    source,
    parameters,
    ...omitUndefined({ body }),
    inputSchema: scope.complete({
      type: 'object',
      properties: Object.fromEntries(properties),
      ...(required.length === 0 ? {} : { required }),
      additionalProperties: false,
    }),
    isOpen: Array.isArray(security) && security.length === 0,
  };
}

function planBody(
  body: Body,
  scope: SchemaScope,
  taken: Set<string>,
  declare: (argument: string, schema: JsonValue, isRequired: boolean) => void,
): PlannedBody {
  if (body.properties !== undefined) {
    const parts = body.properties.map((property) => {
      const argument = freeName(property.name, 'body', taken);
      declare(argument, property.isFile ? fileSchema(property) : scope.read(property.schema), property.isRequired);
      return { argument, property };
    });
    return { ...body, parts };
  }
  const argument = freeName('body', 'request', taken);
  const schema: JsonValue =
    body.kind === 'binary' ? FILE_SCHEMA : body.kind === 'text' ? { type: 'string' } : scope.read(body.schema);
  declare(argument, described(schema, { description: body.description, isDeprecated: false }), body.isRequired);
  return { ...body, argument };
}

function fileSchema({ schema }: BodyProperty): JsonValue {
  return isJsonObject(schema) && schema.type === 'array' ? { type: 'array', items: FILE_SCHEMA } : FILE_SCHEMA;
}

/** `id` of the path keeps its name, `id` of the query becomes `query_id`. */
function freeName(name: string, prefix: string, taken: Set<string>): string {
  let free = taken.has(name) ? `${prefix}_${name}` : name;
  for (let number = 2; taken.has(free); number += 1) free = `${prefix}_${name}_${number}`;
  taken.add(free);
  return free;
}

function described(schema: JsonValue, { description, isDeprecated }: Pick<Parameter, 'description' | 'isDeprecated'>) {
  const own = isJsonObject(schema) ? schema : {};
  return {
    ...own,
    ...(description === undefined || own.description !== undefined ? {} : { description: description.slice(0, 2_000) }),
    ...(isDeprecated ? { deprecated: true } : {}),
  };
}

/** Converts an operation into a tool. */
export function toolOf(serverId: string, plan: Plan, { pointers, schemas }: PlanParts): Tool {
  const { operation, pathItem, name, method, path } = plan.source;
  const title = text(operation.summary) ?? text(pathItem.summary);
  const more = text(operation.description) ?? text(pathItem.description);
  const lines = [title === more ? undefined : title, more, `${method.toUpperCase()} ${path}`];
  const outputSchema = outputSchemaOf(operation, pointers, schemas);
  const tags = Array.isArray(operation.tags) ? operation.tags.filter((tag) => typeof tag === 'string') : [];
  return {
    serverId,
    name,
    ...omitUndefined({ title: title?.slice(0, 200) }),
    description: lines
      .filter((line) => line !== undefined)
      .join('\n\n')
      .slice(0, MAX_DESCRIPTION_CHARACTERS),
    inputSchema: plan.inputSchema,
    ...omitUndefined({ outputSchema }),
    annotations: ANNOTATIONS[method],
    ...(operation.deprecated === true ? { deprecated: true } : {}),
    ...(tags.length === 0
      ? {}
      : { tags: tags.slice(0, MAX_TAGS).map((tag) => String(tag).slice(0, MAX_TAG_CHARACTERS)) }),
  };
}

/** What HTTP methods promise (RFC 9110, 9.2). An API may break it: these are claims, as with every tool. */
const ANNOTATIONS: Readonly<Record<Method, ToolAnnotations>> = {
  get: { readOnlyHint: true },
  head: { readOnlyHint: true },
  options: { readOnlyHint: true },
  put: { idempotentHint: true },
  delete: { destructiveHint: true, idempotentHint: true },
  post: {},
  patch: {},
};

/** The schema of the JSON in a successful response. A response without a body is null. */
function outputSchemaOf(operation: JsonObject, pointers: Pointers, schemas: SchemaRegistry): JsonObject | undefined {
  const responses = isJsonObject(operation.responses) ? Object.entries(operation.responses) : [];
  const scope = schemas.open('output');
  const read: JsonObject[] = [];
  let mayBeEmpty = false;
  for (const [status, raw] of responses) {
    if (!/^2(\d\d|XX)$/i.test(status)) continue;
    const content = pointers.follow(raw)?.content;
    const types = isJsonObject(content) ? Object.keys(content) : [];
    if (types.length === 0) mayBeEmpty = true;
    const chosen = chooseMediaType(types);
    if (!isJsonObject(content) || chosen === undefined) continue;
    const schema = pointers.follow(content[chosen[1]])?.schema;
    // A response that is not JSON may be anything.
    if (chosen[0] !== 'json' || schema === undefined) return undefined;
    const found = scope.read(schema);
    if (!isJsonObject(found)) return undefined;
    read.push(found);
  }
  if (read.length === 0) return undefined;
  const choices = mayBeEmpty ? [...read, { type: 'null' }] : read;
  return scope.complete(choices.length === 1 ? (choices[0] as JsonObject) : { anyOf: choices });
}

function text(value: JsonValue | undefined): string | undefined {
  const trimmed = typeof value === 'string' ? value.trim() : '';
  return trimmed === '' ? undefined : trimmed;
}
