import { omitUndefined } from './omit-undefined.js';

/**
 * zod 3 cannot produce JSON Schema, and before 3.24 it was not a Standard Schema either. Its schemas are read here from their
 * definitions, so that the parameters and types of a tool are known for every zod version.
 */
export interface Zod3Schema<Output = unknown> {
  readonly _def: { readonly typeName?: unknown; readonly description?: string | undefined };
  readonly _output: Output;
  safeParseAsync(
    value: unknown,
  ): Promise<
    | { readonly success: true; readonly data: Output }
    | { readonly success: false; readonly error: { readonly issues: readonly Zod3Issue[] } }
  >;
}

interface Zod3Issue {
  readonly message: string;
  readonly path: readonly PropertyKey[];
}

export function isZod3(schema: unknown): schema is Zod3Schema {
  if (typeof schema !== 'object' || schema === null || '_zod' in schema) return false;
  const { _def, safeParseAsync } = schema as Partial<Zod3Schema>;
  return typeof _def?.typeName === 'string' && typeof safeParseAsync === 'function';
}

type JsonSchema = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: definitions of another library, whose types are not installed here
type Definition = Record<string, any>;

/** The `input` or `output` of a schema as JSON Schema. Types that JSON Schema cannot express become `{}`: anything. */
export function jsonSchemaOfZod3(schema: Zod3Schema, io: 'input' | 'output'): JsonSchema {
  const reader = new Reader(io);
  const root = reader.read(schema);
  return reader.definitions.size === 0 ? root : { ...root, $defs: Object.fromEntries(reader.definitions) };
}

/** A `z.lazy` getter that makes a new schema each time would recurse forever. */
const MAX_DEPTH = 64;

class Reader {
  readonly definitions = new Map<string, JsonSchema>();
  readonly #io: 'input' | 'output';
  /** Schemas that are being read, outermost first. */
  readonly #open: Zod3Schema[] = [];
  /** The open schemas that refer to themselves. */
  readonly #names = new Map<Zod3Schema, string>();

  constructor(io: 'input' | 'output') {
    this.#io = io;
  }

  read(schema: Zod3Schema): JsonSchema {
    if (!isZod3(schema) || this.#open.length >= MAX_DEPTH) return {};
    if (this.#open.includes(schema)) {
      const name = this.#names.get(schema) ?? `schema${this.#names.size + 1}`;
      this.#names.set(schema, name);
      return { $ref: `#/$defs/${name}` };
    }
    this.#open.push(schema);
    const read = this.#shape(schema._def);
    this.#open.pop();
    const { description } = schema._def;
    const described = description === undefined ? read : { ...read, description };
    const name = this.#names.get(schema);
    if (name === undefined) return described;
    this.definitions.set(name, described);
    return { $ref: `#/$defs/${name}` };
  }

  #shape(def: Definition): JsonSchema {
    switch (def.typeName) {
      case 'ZodString':
        return stringSchema(def);
      case 'ZodNumber':
        return numberSchema(def);
      case 'ZodBoolean':
        return { type: 'boolean' };
      case 'ZodNull':
        return { type: 'null' };
      case 'ZodNever':
        return { not: {} };
      case 'ZodLiteral':
        return { const: def.value };
      case 'ZodEnum':
        return { type: 'string', enum: [...def.values] };
      case 'ZodNativeEnum':
        return { enum: enumValues(def.values) };
      case 'ZodObject':
        return this.#object(def);
      case 'ZodArray':
        return this.#array(def);
      case 'ZodTuple':
        return this.#tuple(def);
      case 'ZodRecord':
        return { type: 'object', additionalProperties: this.read(def.valueType) };
      case 'ZodUnion':
      case 'ZodDiscriminatedUnion':
        return { anyOf: [...(def.options.values?.() ?? def.options)].map((option: Zod3Schema) => this.read(option)) };
      case 'ZodIntersection':
        return { allOf: [this.read(def.left), this.read(def.right)] };
      case 'ZodNullable':
        return { anyOf: [this.read(def.innerType), { type: 'null' }] };
      case 'ZodDefault':
        return { ...this.read(def.innerType), default: def.defaultValue() };
      case 'ZodOptional':
      case 'ZodCatch':
      case 'ZodReadonly':
        return this.read(def.innerType);
      case 'ZodBranded':
        return this.read(def.type);
      case 'ZodEffects':
        // Only its author knows what a transform returns.
        return this.#io === 'output' && def.effect.type === 'transform' ? {} : this.read(def.schema);
      case 'ZodPipeline':
        return this.read(this.#io === 'input' ? def.in : def.out);
      case 'ZodLazy':
        return this.read(def.getter());
      default:
        return {};
    }
  }

  #object({ shape, unknownKeys, catchall }: Definition): JsonSchema {
    const members = Object.entries(shape() as Record<string, Zod3Schema>);
    const required = members.filter(([, member]) => !this.#mayBeAbsent(member)).map(([name]) => name);
    const rest = catchall as Zod3Schema;
    return {
      type: 'object',
      properties: Object.fromEntries(members.map(([name, member]) => [name, this.read(member)])),
      ...(required.length === 0 ? {} : { required }),
      ...(rest._def.typeName !== 'ZodNever'
        ? { additionalProperties: this.read(rest) }
        : unknownKeys === 'strict'
          ? { additionalProperties: false }
          : unknownKeys === 'passthrough'
            ? { additionalProperties: {} }
            : {}),
    };
  }

  #mayBeAbsent({ _def }: Zod3Schema): boolean {
    const def: Definition = _def;
    switch (def.typeName) {
      case 'ZodOptional':
      case 'ZodUndefined':
        return true;
      case 'ZodDefault':
      case 'ZodCatch':
        return this.#io === 'input';
      case 'ZodNullable':
      case 'ZodReadonly':
        return this.#mayBeAbsent(def.innerType);
      case 'ZodBranded':
        return this.#mayBeAbsent(def.type);
      case 'ZodEffects':
        return this.#io === 'input' && this.#mayBeAbsent(def.schema);
      case 'ZodPipeline':
        return this.#mayBeAbsent(this.#io === 'input' ? def.in : def.out);
      default:
        return false;
    }
  }

  #array({ type, minLength, maxLength, exactLength }: Definition): JsonSchema {
    const least = exactLength?.value ?? minLength?.value;
    const most = exactLength?.value ?? maxLength?.value;
    return {
      type: 'array',
      items: this.read(type),
      ...omitUndefined({ minItems: least, maxItems: most }),
    };
  }

  #tuple({ items, rest }: Definition): JsonSchema {
    const prefixItems = (items as Zod3Schema[]).map((item) => this.read(item));
    return {
      type: 'array',
      prefixItems,
      minItems: prefixItems.length,
      ...(rest === null || rest === undefined ? { items: false } : { items: this.read(rest) }),
    };
  }
}

const FORMATS: Readonly<Record<string, string>> = {
  email: 'email',
  url: 'uri',
  uuid: 'uuid',
  datetime: 'date-time',
  date: 'date',
  time: 'time',
};

function stringSchema({ checks, coerce }: Definition): JsonSchema {
  // `z.coerce` takes any value that can be converted.
  if (coerce === true) return {};
  const schema: JsonSchema = { type: 'string' };
  for (const { kind, value, regex } of checks as Definition[]) {
    if (kind === 'min' || kind === 'length') schema.minLength = value;
    if (kind === 'max' || kind === 'length') schema.maxLength = value;
    if (kind === 'regex' && regex.flags.replace(/[gyud]/g, '') === '') schema.pattern = regex.source;
    if (FORMATS[kind] !== undefined) schema.format = FORMATS[kind];
  }
  return schema;
}

function numberSchema({ checks, coerce }: Definition): JsonSchema {
  if (coerce === true) return {};
  const schema: JsonSchema = { type: 'number' };
  for (const { kind, value, inclusive } of checks as Definition[]) {
    if (kind === 'int') schema.type = 'integer';
    if (kind === 'min') schema[inclusive ? 'minimum' : 'exclusiveMinimum'] = value;
    if (kind === 'max') schema[inclusive ? 'maximum' : 'exclusiveMaximum'] = value;
    if (kind === 'multipleOf') schema.multipleOf = value;
  }
  return schema;
}

/** A numeric TypeScript enum also maps its numbers to names. */
function enumValues(values: Record<string, string | number>): (string | number)[] {
  const names = Object.keys(values).filter((name) => typeof values[values[name] as string] !== 'number');
  return names.map((name) => values[name] as string | number);
}
