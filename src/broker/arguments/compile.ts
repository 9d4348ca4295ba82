import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import { isSchema, readKeywords, type SchemaKeywords } from '../../domain/json-schema/keywords.js';
import { escapeToken, type References, referencesOf } from '../../domain/json-schema/references.js';
import { BoundedLines, oneLine } from '../../lib/text/bounded-text.js';
import { readPattern } from './pattern.js';
import {
  ANYTHING,
  type ArrayRule,
  allowedValues,
  NOTHING,
  type ObjectRule,
  type Pattern,
  type Rule,
  type TypeName,
} from './rule.js';

export interface CompiledSchema {
  readonly root: Rule;
  /** Which parts of the schema are not enforced, and why. */
  readonly warnings: readonly string[];
}

/** How much of an untrusted schema is enforced. Parts beyond these bounds accept everything, with a warning. */
export const COMPILE_BOUNDS = {
  /** The deepest of 1,555 real schemas has a depth of 17. */
  depth: 64,
  /** Number of subschemas in one document. The largest real one has 2,300. */
  rules: 20_000,
  values: 20_000,
  /** Different regular expressions. */
  patterns: 200,
  warnings: 20,
} as const;

/**
 * Compiles an untrusted schema, draft-04 to 2020-12 with the usual mistakes, into rules. Never throws, never fetches, never
 * generates code. In doubt it is lenient: the tool's own server has the last word, and a call that the server would accept must
 * not be stopped here. For the same reason `format` is not enforced, as in 2020-12: servers that declare `date-time` accept
 * dates without a time zone.
 */
export function compileSchema(schema: JsonObject): CompiledSchema {
  return new SchemaCompiler(schema).compile();
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
/** Compiles a subschema. The token is its path, escaped as in JSON Pointers. */
type ReadChild = (value: JsonValue, token: string) => Rule;

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
  /** By source: generators repeat the same few patterns, and each takes up to a millisecond to compile. */
  readonly #patterns = new Map<string, Pattern | undefined>();
  #isCut = false;

  constructor(root: JsonObject) {
    this.#root = root;
    this.#references = referencesOf(root);
  }

  compile(): CompiledSchema {
    const root = this.#rule(this.#root, '#', 0);
    // The list grows during the loop: the target of a reference may contain references.
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

  /** The target of a reference is compiled later, from the list, so that a chain of references does not nest. */
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
    const keywords = readKeywords(schema);
    const child = (value: JsonValue, token: string) => this.#rule(value, `${pointer}/${token}`, depth + 1);
    if (keywords.title !== undefined) rule.title = keywords.title;
    if (keywords.format !== undefined) rule.format = keywords.format;
    if (keywords.isNullable) rule.isNullable = true;
    const types = this.#types(keywords.types, pointer);
    if (types !== undefined) rule.types = types;
    this.#fillValues(rule, keywords, pointer);
    this.#fillCombinators(rule, keywords, schema, pointer, child);
    const object = this.#object(keywords, pointer, child);
    if (object !== undefined) rule.object = object;
    const array = arrayRule(keywords, child);
    if (array !== undefined) rule.array = array;
    const { constraints } = keywords;
    if (constraints === undefined) return;
    rule.limits = constraints;
    const pattern = constraints.pattern === undefined ? undefined : this.#pattern(constraints.pattern, pointer);
    if (pattern !== undefined) rule.pattern = pattern;
  }

  #types(names: readonly string[] = [], pointer: string): readonly TypeName[] | undefined {
    if (names.length === 0) return undefined;
    const strange = names.find((name) => !TYPE_NAMES.has(name));
    if (strange === undefined) return names as TypeName[];
    if (strange !== 'any') this.#warn(pointer, `the type ${JSON.stringify(strange)} is not known, and is not enforced`);
    return undefined;
  }

  #fillValues(rule: Writable<Rule>, { constant, enumeration }: SchemaKeywords, pointer: string): void {
    const values = constant === undefined ? [] : [allowedValues([constant])];
    if (enumeration !== undefined) {
      // An empty list would make the tool uncallable. Generators use it for "not known".
      if (enumeration.length === 0) this.#warn(pointer, 'the list of allowed values is empty, and is not enforced');
      else if (enumeration.length > COMPILE_BOUNDS.values)
        this.#warn(pointer, `a list of ${enumeration.length} allowed values is not enforced`);
      else values.push(allowedValues(enumeration));
    }
    if (values.length > 0) rule.values = values;
  }

  #fillCombinators(
    rule: Writable<Rule>,
    keywords: SchemaKeywords,
    schema: JsonObject,
    pointer: string,
    child: ReadChild,
  ): void {
    const all = children(keywords, 'allOf', child) ?? [];
    for (const reference of keywords.references ?? []) all.push(this.#referenced(reference, schema, pointer));
    if (all.length > 0) rule.all = all;
    const anyOf = children(keywords, 'anyOf', child);
    if (anyOf !== undefined) rule.anyOf = anyOf;
    const oneOf = children(keywords, 'oneOf', child);
    if (oneOf !== undefined) rule.oneOf = oneOf;
    if (isSchema(keywords.not)) rule.not = child(keywords.not, 'not');
    if (isSchema(keywords.if)) {
      rule.condition = {
        if: child(keywords.if, 'if'),
        // biome-ignore lint/suspicious/noThenProperty: the keyword's own name; it is a rule, never called
        then: isSchema(keywords.then) ? child(keywords.then, 'then') : ANYTHING,
        else: isSchema(keywords.else) ? child(keywords.else, 'else') : ANYTHING,
      };
    }
  }

  #object(keywords: SchemaKeywords, pointer: string, child: ReadChild): ObjectRule | undefined {
    if (!OBJECT_KEYWORDS.some((key) => keywords[key] !== undefined)) return undefined;
    const properties = new Map(
      Object.entries(keywords.properties ?? {}).map(([name, value]) => [
        name,
        child(value, `properties/${escapeToken(name)}`),
      ]),
    );
    const patterns: { pattern: Pattern; rule: Rule }[] = [];
    let isPartial = false;
    for (const [source, value] of Object.entries(keywords.patternProperties ?? {})) {
      const pattern = this.#pattern(source, pointer);
      if (pattern === undefined) isPartial = true;
      else patterns.push({ pattern, rule: child(value, `patternProperties/${escapeToken(source)}`) });
    }
    const rule: Writable<ObjectRule> = {
      properties,
      patterns,
      required: keywords.required ?? [],
      dependentRequired: keywords.dependentRequired ?? [],
      dependentRules: (keywords.dependentSchemas ?? []).map(
        ([key, value]) => [key, child(value, `dependentSchemas/${escapeToken(key)}`)] as const,
      ),
    };
    // If a pattern can't be run, any key may match it.
    if (isSchema(keywords.additionalProperties) && !isPartial)
      rule.additional = child(keywords.additionalProperties, 'additionalProperties');
    if (isSchema(keywords.unevaluatedProperties) && !isPartial)
      rule.unevaluated = child(keywords.unevaluatedProperties, 'unevaluatedProperties');
    if (isSchema(keywords.propertyNames)) rule.names = child(keywords.propertyNames, 'propertyNames');
    return rule;
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
  ...(['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'required'] as const),
  ...(['dependentRequired', 'dependentSchemas', 'propertyNames'] as const),
];

function arrayRule(keywords: SchemaKeywords, child: ReadChild): ArrayRule | undefined {
  const { prefixItems = [], prefixKeyword } = keywords;
  const leading = prefixItems.map((value, index) => child(value, `${prefixKeyword}/${index}`));
  const rule: Writable<ArrayRule> = { leading };
  if (isSchema(keywords.items)) rule.items = child(keywords.items, 'items');
  if (isSchema(keywords.unevaluatedItems)) rule.unevaluated = child(keywords.unevaluatedItems, 'unevaluatedItems');
  if (isSchema(keywords.contains)) {
    rule.contains = {
      rule: child(keywords.contains, 'contains'),
      minimum: keywords.minContains ?? 1,
      maximum: keywords.maxContains ?? Number.POSITIVE_INFINITY,
    };
  }
  return leading.length === 0 && Object.keys(rule).length === 1 ? undefined : rule;
}

function children(keywords: SchemaKeywords, key: 'allOf' | 'anyOf' | 'oneOf', child: ReadChild): Rule[] | undefined {
  return keywords[key]?.map((value, index) => child(value, `${key}/${index}`));
}
