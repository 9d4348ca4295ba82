import type { JsonObject } from '../../domain/json.js';
import type { CompilerDiagnostic } from '../../domain/type-check.js';
import { nearest } from '../../lib/text/nearest.js';
import { API, type ImportedNames, type NamedFunction } from './imported-names.js';
import { enclosingBracket, type MaskedSource, maskSource } from './mask-source.js';
import { EACH, type InputPlace, refusesNames } from './refused-names.js';

/** The input schema of a function; undefined if it is not known or the function takes anything. */
export type InputSchemaOf = (called: NamedFunction) => JsonObject | undefined;

const MISSING_PROPERTY: ReadonlySet<number> = new Set([2739, 2740, 2741]);
const NOT_ASSIGNABLE: ReadonlySet<number> = new Set([2322, 2345, 2820]);
/** A property that the declared type does not have, with and without a suggestion. */
export const UNKNOWN_PROPERTY: ReadonlySet<number> = new Set([2561, 2353]);
const TOO_FEW_ARGUMENTS = 2554;
const LITERAL = /^(?:-?\s*\d[\w.]*|true\b|false\b|null\b)/;

/** Finds definite errors in the literal arguments that a program passes to a tool. */
export class ToolArguments {
  readonly #source: string;
  readonly #masked: MaskedSource;
  readonly #names: ImportedNames;
  readonly #schemaOf: InputSchemaOf;

  constructor(source: string, masked: MaskedSource, names: ImportedNames, schemaOf: InputSchemaOf) {
    this.#source = source;
    this.#masked = masked;
    this.#names = names;
    this.#schemaOf = schemaOf;
  }

  /** Whether the tool's schema certainly refuses this call. */
  isRefused(diagnostic: CompilerDiagnostic): boolean {
    const { code, start, end, text } = diagnostic;
    if (code === TOO_FEW_ARGUMENTS) return /got 0\.$/.test(text) && this.#isCallOfTool(start, end);
    // A tool that declares no input accepts any.
    if (/'never'/.test(text)) return false;
    if (!this.#isInArguments(start)) return false;
    if (UNKNOWN_PROPERTY.has(code)) return this.#hasRefusedNames(start);
    const value = this.#valueAt(start, end);
    if (value === undefined) return false;
    if (MISSING_PROPERTY.has(code)) return this.#isPlainObject(value);
    if (!NOT_ASSIGNABLE.has(code)) return false;
    return this.#isLiteral(value) || (/^Type 'Promise</.test(text) && this.#isCall(value));
  }

  /** Only object and array literals lie between this position and the brackets of a tool call. */
  #isInArguments(at: number): boolean {
    const bracket = this.#callBracket(at);
    if (bracket === undefined || this.#toolBefore(bracket) === undefined) return false;
    return this.#names.namespaces === undefined || this.#isByName(bracket);
  }

  #callBracket(at: number): number | undefined {
    const { text } = this.#masked;
    let bracket = enclosingBracket(this.#masked, at);
    while (bracket !== undefined && text[bracket] !== '(') bracket = enclosingBracket(this.#masked, bracket);
    return bracket;
  }

  /** One object and nothing else: for positional arguments the compiler's message is about another overload. */
  #isByName(bracket: number): boolean {
    const { text, partner } = this.#masked;
    const open = bracket + 1 + (/^\s*/.exec(text.slice(bracket + 1))?.[0].length ?? 0);
    const close = text[open] === '{' ? partner.get(open) : undefined;
    return close !== undefined && /^\s*,?\s*\)/.test(text.slice(close + 1));
  }

  /** `create_issue()`: the position is the name, or the whole call. */
  #isCallOfTool(start: number, end: number): boolean {
    const { text } = this.#masked;
    const bracket = text.indexOf('(', start);
    return bracket >= 0 && bracket <= end + 1 && this.#toolBefore(bracket) !== undefined;
  }

  /** The tool whose name stands before this position: an imported function, or one of an imported module. */
  #toolBefore(end: number): NamedFunction | undefined {
    const before = this.#masked.text.slice(0, end);
    const { namespaces, functions, modules } = this.#names;
    if (namespaces !== undefined) {
      const [, namespace, method] = /(?<![\w$.])mcp\s*\.\s*([\w$]+)\s*\.\s*([\w$]+)\s*$/.exec(before) ?? [];
      if (namespace === undefined || method === undefined || !namespaces.has(namespace)) return undefined;
      return { module: `${API}${namespace}`, name: method };
    }
    const [, variable, name] = /(?:(?<![\w$.])([\w$]+)\s*\.\s*)?(?<![\w$])([\w$]+)\s*$/.exec(before) ?? [];
    if (name === undefined) return undefined;
    if (variable === undefined) return /\.\s*[\w$]+\s*$/.test(before) ? undefined : functions.get(name);
    const module = modules.get(variable);
    return module === undefined ? undefined : { module, name };
  }

  /** The start of the value that a diagnostic is about: the position itself, or the value after a property name. */
  #valueAt(start: number, end: number): number | undefined {
    const { text } = this.#masked;
    const colon = /^\s*:\s*/.exec(text.slice(end));
    const isName = /^[\w$'"]/.test(text.slice(start)) && colon !== null;
    if (isName) return end + (colon?.[0].length ?? 0);
    return start;
  }

  /**
   * Whether the object around an unknown property is refused for its names. Where more properties are allowed, a misspelt optional one is
   * taken like any other: it may be fine.
   */
  #hasRefusedNames(at: number): boolean {
    const object = this.#objectAround(at);
    return object !== undefined && refusesNames(object.schema, object.place, object.written);
  }

  /** The missing property of a tool's input that an unknown one is close to. The compiler suggests nothing for short names. */
  missingNear({ start, end }: CompilerDiagnostic): string | undefined {
    const object = this.#objectAround(start);
    if (object === undefined || object.place.length > 0) return undefined;
    const { schema, written } = object;
    const required = Array.isArray(schema.required) ? schema.required : [];
    const missing = required.filter((name) => typeof name === 'string' && /^[\w$]+$/.test(name) && !written.has(name));
    return nearest(this.#source.slice(start, end), missing as string[], 1)[0];
  }

  /** The object literal in a tool's arguments around this position: its place in the input, and the names that it has. */
  #objectAround(at: number) {
    const open = enclosingBracket(this.#masked, at);
    const bracket = this.#callBracket(at);
    if (open === undefined || bracket === undefined || !this.#isPlainObject(open)) return undefined;
    const tool = this.#toolBefore(bracket);
    const schema = tool === undefined ? undefined : this.#schemaOf(tool);
    const place = this.#placeOf(open);
    if (schema === undefined || place === undefined) return undefined;
    const close = this.#masked.partner.get(open) ?? open;
    const names = topLevelParts(this.#source.slice(open + 1, close), ',').map(nameOf);
    return { schema, place, written: new Set(names.filter((name) => name !== '')) };
  }

  /** The place of a literal in the input that it is a part of; undefined if a name before it cannot be read. */
  #placeOf(open: number): InputPlace | undefined {
    const { text } = this.#masked;
    const place: InputPlace[number][] = [];
    for (let inner = open; ; ) {
      const outer = enclosingBracket(this.#masked, inner);
      if (outer === undefined) return undefined;
      if (text[outer] === '(') return place;
      const name = /(["']?)([\w$-]+)\1\s*:\s*$/.exec(this.#source.slice(outer + 1, inner))?.[2];
      if (text[outer] === '[') place.unshift(EACH);
      else if (name === undefined) return undefined;
      else place.unshift(name);
      inner = outer;
    }
  }

  /** An object literal without spread or computed keys. */
  #isPlainObject(at: number): boolean {
    const { text, partner } = this.#masked;
    if (text[at] !== '{') return false;
    const close = partner.get(at);
    if (close === undefined || !this.#isWhole(close + 1)) return false;
    for (let each = at + 1, isKey = true; each < close; each += 1) {
      const character = text[each] as string;
      if (isKey && (character === '[' || character === '.')) return false;
      if ('([{'.includes(character)) each = partner.get(each) ?? close;
      else if (character === ',') isKey = true;
      else if (!/\s/.test(character)) isKey = false;
    }
    return true;
  }

  /** A number, a string, `true`, `false` or `null`; an object or a list if another type is expected. */
  #isLiteral(at: number): boolean {
    const { text, partner } = this.#masked;
    const character = text[at] as string;
    const simple = LITERAL.exec(text.slice(at))?.[0];
    if (simple !== undefined) return this.#isWhole(at + simple.length);
    if (character === '"' || character === "'") return this.#isWhole(text.indexOf(character, at + 1) + 1);
    // A template counts only without expressions.
    if (character === '`') {
      const close = this.#source.indexOf('`', at + 1);
      return !this.#source.slice(at, close).includes('${') && this.#isWhole(close + 1);
    }
    if (character !== '{' && character !== '[') return false;
    const close = partner.get(at);
    // Its elements are judged at their own positions. Here the literal as a whole has the wrong type.
    return close !== undefined && close === this.#nextBracketless(at) && this.#isWhole(close + 1);
  }

  #nextBracketless(at: number): number | undefined {
    return /^[[{]\s*[\]}]/.test(this.#masked.text.slice(at)) ? this.#masked.partner.get(at) : undefined;
  }

  /** A call whose promise is passed on unchanged. */
  #isCall(at: number): boolean {
    const { text, partner } = this.#masked;
    const name = /^[\w$]+(?:\s*\.\s*[\w$]+)?\s*(?=\()/.exec(text.slice(at))?.[0];
    if (name === undefined || this.#toolBefore(at + name.trimEnd().length) === undefined) return false;
    const close = partner.get(at + name.length);
    return close !== undefined && this.#isWhole(close + 1);
  }

  /** The value is used as written: no operator, no property access, no type assertion follows. */
  #isWhole(end: number): boolean {
    return /^\s*[,})\]]/.test(this.#masked.text.slice(end));
  }
}

/** The name of `name: value`, of `"name": value` and of `name` alone. */
function nameOf(part: string): string {
  return /^\s*["']?([^"':\s]+)/.exec(part)?.[1] ?? '';
}

/** Parts between separators outside all brackets and strings. */
function topLevelParts(text: string, separator: string): string[] {
  const masked = maskSource(text)?.text;
  if (masked === undefined) return [];
  const parts: string[] = [];
  let from = 0;
  let depth = 0;
  for (let at = 0; at < masked.length; at += 1) {
    const character = masked[at] as string;
    if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    else if (character === separator && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return [...parts, text.slice(from)];
}
