import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import { escapeToken, type References, referencesOf } from '../../domain/json-schema/references.js';
import { BoundedLines, oneLine } from '../../lib/bounded-text.js';
import {
  bounds,
  entriesOf,
  isEmpty,
  isSchema,
  type ReadChild,
  type ReadChildren,
  readArray,
  readNumber,
  stringsOf,
  type Writable,
} from './keywords.js';
import { readPattern } from './pattern.js';
import {
  ANYTHING,
  allowedValues,
  NOTHING,
  type ObjectRule,
  type Pattern,
  type Rule,
  type StringRule,
  type TypeName,
} from './rule.js';

export interface CompiledSchema {
  readonly root: Rule;
  /** What of the schema is not enforced, and why. */
  readonly warnings: readonly string[];
}

/** How much of one foreign schema is enforced; what lies beyond accepts everything, with a warning. */
export const COMPILE_BOUNDS = {
  /** The deepest of 1,555 real schemas has 17. */
  depth: 64,
  /** Schemas of any kind in one document. The largest real one has 2,300. */
  rules: 20_000,
  values: 20_000,
  /** Different regular expressions. */
  patterns: 200,
  warnings: 20,
} as const;

/**
 * Reads a foreign schema, draft-04 to 2020-12 with the usual mistakes, into rules. Never throws, never fetches, never
 * makes code. Where it is in doubt it is lenient: the tool's own server has the last word, and a call that it would
 * have taken must not be stopped here. For the same reason `format` is not enforced, as 2020-12 has it: servers that
 * declare `date-time` take dates without a time zone.
 */
export function compileSchema(schema: JsonObject): CompiledSchema {
  return new SchemaCompiler(schema).compile();
}

interface Unread {
  readonly schema: JsonObject;
  readonly rule: Writable<Rule>;
  readonly pointer: string;
}

class SchemaCompiler {
  readonly #root: JsonObject;
  readonly #references: References;
  readonly #rules = new Map<JsonObject, Rule>();
  readonly #unread: Unread[] = [];
  readonly #warnings = new BoundedLines(COMPILE_BOUNDS.warnings);
  /** By source: generators repeat the same few, and each takes up to a millisecond to read. */
  readonly #patterns = new Map<string, Pattern | undefined>();
  #isCut = false;

  constructor(root: JsonObject) {
    this.#root = root;
    this.#references = referencesOf(root);
  }

  compile(): CompiledSchema {
    const root = this.#rule(this.#root, '#', 0);
    // The list grows while it is worked off: what a reference points to may have references of its own.
    for (const { schema, rule, pointer } of this.#unread) this.#fill(rule, schema, pointer, 0);
    return { root, warnings: this.#warnings.list() };
  }

  #warn(pointer: string, message: string): void {
    this.#warnings.add(`${oneLine(pointer, 120)}: ${message}`);
  }

  #rule(schema: JsonValue, pointer: string, depth: number): Rule {
    if (schema === true) return ANYTHING;
    if (schema === false) return NOTHING;
    if (!isJsonObject(schema)) {
      this.#warn(pointer, 'this is not a schema, and is not enforced');
      return ANYTHING;
    }
    const known = this.#rules.get(schema);
    if (known !== undefined) return known;
    if (Object.keys(schema).length === 0) return ANYTHING;
    if (depth > COMPILE_BOUNDS.depth || this.#rules.size >= COMPILE_BOUNDS.rules) {
      if (!this.#isCut) this.#warn(pointer, 'too deep or too large; the rest of this schema is not enforced');
      this.#isCut = true;
      return ANYTHING;
    }
    const rule: Writable<Rule> = {};
    this.#rules.set(schema, rule);
    this.#fill(rule, schema, pointer, depth);
    return rule;
  }

  /** What a reference points to is read in its turn, so that a chain of them does not nest. */
  #referenced(reference: string, schema: JsonObject, pointer: string): Rule {
    const resolved = this.#references.resolve(reference, schema);
    if (resolved === undefined) {
      this.#warn(pointer, `${oneLine(reference, 80)} is not in this document, and is not enforced`);
      return ANYTHING;
    }
    if (!isJsonObject(resolved.target)) return this.#rule(resolved.target, pointer, 0);
    const known = this.#rules.get(resolved.target);
    if (known !== undefined || this.#rules.size >= COMPILE_BOUNDS.rules) return known ?? ANYTHING;
    const rule: Writable<Rule> = {};
    this.#rules.set(resolved.target, rule);
    this.#unread.push({ schema: resolved.target, rule, pointer: resolved.pointer });
    return rule;
  }

  #fill(rule: Writable<Rule>, schema: JsonObject, pointer: string, depth: number): void {
    const child = (value: JsonValue, token: string) => this.#rule(value, `${pointer}/${token}`, depth + 1);
    const children = (key: string): Rule[] | undefined => {
      const list = schema[key];
      return Array.isArray(list) && list.length > 0
        ? list.map((value, index) => child(value, `${key}/${index}`))
        : undefined;
    };
    if (typeof schema.title === 'string') rule.title = schema.title;
    if (typeof schema.format === 'string') rule.format = schema.format;
    if (schema.nullable === true) rule.isNullable = true;
    const types = this.#types(schema.type, pointer);
    if (types !== undefined) rule.types = types;
    this.#fillValues(rule, schema, pointer);
    this.#fillCombinators(rule, schema, pointer, child, children);
    const object = this.#object(schema, pointer, child);
    if (object !== undefined) rule.object = object;
    const array = readArray(schema, child, children);
    if (array !== undefined) rule.array = array;
    const number = readNumber(schema);
    if (number !== undefined) rule.number = number;
    const string = this.#string(schema, pointer);
    if (string !== undefined) rule.string = string;
  }

  #types(type: JsonValue | undefined, pointer: string): readonly TypeName[] | undefined {
    const names = (Array.isArray(type) ? type : [type]).filter((name): name is string => typeof name === 'string');
    if (names.length === 0) return undefined;
    const lower = names.map((name) => name.toLowerCase()); // some converters shout
    const strange = lower.find((name) => !TYPE_NAMES.has(name));
    if (strange === undefined) return lower as TypeName[];
    if (strange !== 'any') this.#warn(pointer, `the type ${JSON.stringify(strange)} is not known, and is not enforced`);
    return undefined;
  }

  #fillValues(rule: Writable<Rule>, schema: JsonObject, pointer: string): void {
    const values = schema.const === undefined ? [] : [allowedValues([schema.const])];
    if (Array.isArray(schema.enum)) {
      // An empty list would make the tool uncallable, and is a generator's way to say "not known".
      if (schema.enum.length === 0) this.#warn(pointer, 'the list of allowed values is empty, and is not enforced');
      else if (schema.enum.length > COMPILE_BOUNDS.values)
        this.#warn(pointer, `a list of ${schema.enum.length} allowed values is not enforced`);
      else values.push(allowedValues(schema.enum));
    }
    if (values.length > 0) rule.values = values;
  }

  #fillCombinators(
    rule: Writable<Rule>,
    schema: JsonObject,
    pointer: string,
    child: ReadChild,
    children: ReadChildren,
  ): void {
    const all = children('allOf') ?? [];
    for (const key of ['$ref', '$dynamicRef', '$recursiveRef'] as const) {
      const reference = schema[key];
      if (typeof reference === 'string') all.push(this.#referenced(reference, schema, pointer));
    }
    if (all.length > 0) rule.all = all;
    const anyOf = children('anyOf');
    if (anyOf !== undefined) rule.anyOf = anyOf;
    const oneOf = children('oneOf');
    if (oneOf !== undefined) rule.oneOf = oneOf;
    if (isSchema(schema.not)) rule.not = child(schema.not, 'not');
    if (isSchema(schema.if)) {
      rule.condition = {
        if: child(schema.if, 'if'),
        // biome-ignore lint/suspicious/noThenProperty: the keyword's own name; it is a rule, never called
        then: isSchema(schema.then) ? child(schema.then, 'then') : ANYTHING,
        else: isSchema(schema.else) ? child(schema.else, 'else') : ANYTHING,
      };
    }
  }

  #object(schema: JsonObject, pointer: string, child: ReadChild): ObjectRule | undefined {
    if (!OBJECT_KEYWORDS.some((key) => schema[key] !== undefined)) return undefined;
    const properties = new Map(
      entriesOf(schema.properties).map(([name, value]) => [name, child(value, `properties/${escapeToken(name)}`)]),
    );
    const patterns: { pattern: Pattern; rule: Rule }[] = [];
    let isPartial = false;
    for (const [source, value] of entriesOf(schema.patternProperties)) {
      const pattern = this.#pattern(source, pointer);
      if (pattern === undefined) isPartial = true;
      else patterns.push({ pattern, rule: child(value, `patternProperties/${escapeToken(source)}`) });
    }
    const dependencies = [...entriesOf(schema.dependencies), ...entriesOf(schema.dependentRequired)];
    const rule: Writable<ObjectRule> = {
      properties,
      patterns,
      required: stringsOf(schema.required),
      dependentRequired: dependencies
        .filter(([, names]) => Array.isArray(names))
        .map(([key, names]) => [key, stringsOf(names)] as const),
      dependentRules: [...entriesOf(schema.dependencies), ...entriesOf(schema.dependentSchemas)]
        .filter(([, value]) => isSchema(value))
        .map(([key, value]) => [key, child(value, `dependentSchemas/${escapeToken(key)}`)] as const),
      ...bounds(schema, 'minProperties', 'maxProperties'),
    };
    // Where a pattern can't be run, any key may be one that it matches.
    if (isSchema(schema.additionalProperties) && !isPartial)
      rule.additional = child(schema.additionalProperties, 'additionalProperties');
    if (isSchema(schema.unevaluatedProperties) && !isPartial)
      rule.unevaluated = child(schema.unevaluatedProperties, 'unevaluatedProperties');
    if (isSchema(schema.propertyNames)) rule.names = child(schema.propertyNames, 'propertyNames');
    return rule;
  }

  #string(schema: JsonObject, pointer: string): StringRule | undefined {
    const pattern = typeof schema.pattern === 'string' ? this.#pattern(schema.pattern, pointer) : undefined;
    const rule: StringRule = {
      ...bounds(schema, 'minLength', 'maxLength'),
      ...(pattern === undefined ? {} : { pattern }),
    };
    return isEmpty(rule) ? undefined : rule;
  }

  #pattern(source: string, pointer: string): Pattern | undefined {
    if (!this.#patterns.has(source) && this.#patterns.size < COMPILE_BOUNDS.patterns) {
      this.#patterns.set(source, readPattern(source));
    }
    const pattern = this.#patterns.get(source);
    if (pattern === undefined)
      this.#warn(pointer, `the pattern /${oneLine(source, 60)}/ can't be checked, and is not enforced`);
    return pattern;
  }
}

const TYPE_NAMES: ReadonlySet<string> = new Set([
  ...['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'],
]);
const OBJECT_KEYWORDS = [
  ...['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'required'],
  ...['dependencies', 'dependentRequired', 'dependentSchemas', 'propertyNames', 'minProperties', 'maxProperties'],
];
