import * as z from 'zod';

/** One row of docs/reference/config.md. */
export interface ConfigKey {
  readonly path: string;
  readonly type: string;
  readonly default: string;
  readonly meaning: string;
  readonly example: string;
}

interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly options?: readonly z.ZodType[];
  readonly entries?: Readonly<Record<string, string>>;
  readonly values?: readonly unknown[];
  readonly defaultValue?: unknown;
}

/** Every key below `schema`, in its order; a map or list of objects is followed by the keys of one entry. */
export function configKeys(schema: z.ZodType, path = ''): ConfigKey[] {
  const inner = unwrapped(schema).schema;
  const { shape, element, valueType, options } = definitionOf(inner);
  if (shape !== undefined)
    return Object.entries(shape).flatMap(([name, value]) => {
      const here = path === '' ? name : `${path}.${name}`;
      return [rowOf(here, value), ...configKeys(value, here)];
    });
  if (element !== undefined) return configKeys(element, `${path}[]`);
  if (valueType !== undefined) return configKeys(valueType, `${path}.NAME`);
  return (options ?? []).flatMap((option) => configKeys(option, path));
}

function rowOf(path: string, schema: z.ZodType): ConfigKey {
  const { schema: inner, meta, isRequired, given } = unwrapped(schema);
  return {
    path,
    type: typeName(inner, meta),
    default: isRequired ? 'required' : shownDefault(given, meta.kind),
    meaning: String(meta.description ?? ''),
    example: String(meta.example ?? ''),
  };
}

interface Unwrapped {
  readonly schema: z.ZodType;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly isRequired: boolean;
  /** The default in the schema: for `default` after parsing, for `prefault` before. */
  readonly given: unknown;
}

/** The schema inside defaults, options and transforms, with their descriptions. The outermost description wins. */
function unwrapped(schema: z.ZodType): Unwrapped {
  const definition = definitionOf(schema);
  const meta = z.globalRegistry.get(schema) ?? {};
  const next = definition.innerType ?? (definition.type === 'pipe' ? pipeInput(definition) : undefined);
  if (next === undefined) return { schema, meta, isRequired: true, given: undefined };
  const inside = unwrapped(next);
  return {
    schema: inside.schema,
    meta: { ...inside.meta, ...meta },
    isRequired: inside.isRequired && !['optional', 'default', 'prefault'].includes(definition.type),
    given: definition.defaultValue ?? inside.given,
  };
}

/** `preprocess` has its transform before the schema, `transform` after it. */
function pipeInput({ in: before, out }: Definition): z.ZodType | undefined {
  return before !== undefined && definitionOf(before).type === 'transform' ? out : before;
}

function typeName(schema: z.ZodType, meta: Readonly<Record<string, unknown>>): string {
  if (typeof meta.kind === 'string') return meta.kind;
  const { type, entries, values, element, valueType, options } = definitionOf(schema);
  const inner = (each: z.ZodType) => {
    const { schema: bare, meta: its } = unwrapped(each);
    return typeName(bare, its);
  };
  if (entries !== undefined) return Object.values(entries).map(code).join(', ');
  if (values !== undefined) return values.map((value) => code(String(value))).join(', ');
  if (element !== undefined) return `list of ${inner(element)}`;
  if (valueType !== undefined) return `map of ${inner(valueType)}`;
  if (options !== undefined) return [...new Set(options.map(inner))].join(' or ');
  return type === 'object' ? 'map' : type === 'string' ? 'text' : type === 'unknown' ? 'anything' : type;
}

const DURATIONS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;
const SIZES = [
  ['GB', 1024 ** 3],
  ['MB', 1024 ** 2],
  ['KB', 1024],
  ['', 1],
] as const;

function shownDefault(value: unknown, kind: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'number' && kind === 'duration') return code(inUnits(value, DURATIONS));
  if (typeof value === 'number' && kind === 'size') return code(inUnits(value, SIZES));
  if (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
    return Array.isArray(value) ? code('[]') : '';
  return code(typeof value === 'string' ? value : JSON.stringify(value));
}

function inUnits(amount: number, units: readonly (readonly [string, number])[]): string {
  const [name, factor] = units.find(([, each]) => amount % each === 0 && amount >= each) ?? ['', 1];
  return `${amount / factor}${name}`;
}

function code(text: string): string {
  return `\`${text}\``;
}

function definitionOf(schema: z.ZodType): Definition {
  return schema._zod.def as unknown as Definition;
}
