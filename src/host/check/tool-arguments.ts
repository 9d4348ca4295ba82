import type { CompilerDiagnostic } from '../../domain/type-check.js';
import type { ImportedNames } from './imported-names.js';
import { enclosingBracket, type MaskedSource, maskSource } from './mask-source.js';

const MISSING_PROPERTY: ReadonlySet<number> = new Set([2739, 2740, 2741]);
const NOT_ASSIGNABLE: ReadonlySet<number> = new Set([2322, 2345, 2820]);
const MISSPELT_PROPERTY = 2561;
const UNKNOWN_PROPERTY = 2353;
const IN_TYPE = /does not exist in type '(\{.*\})'/s;
const TOO_FEW_ARGUMENTS = 2554;
const LITERAL = /^(?:-?\s*\d[\w.]*|true\b|false\b|null\b)/;

/** Finds definite errors in the literal arguments that a program passes to a tool. */
export class ToolArguments {
  readonly #source: string;
  readonly #masked: MaskedSource;
  readonly #names: ImportedNames;

  constructor(source: string, masked: MaskedSource, names: ImportedNames) {
    this.#source = source;
    this.#masked = masked;
    this.#names = names;
  }

  /** Whether the tool's schema certainly refuses this call. */
  isRefused(diagnostic: CompilerDiagnostic): boolean {
    const { code, start, end, text } = diagnostic;
    if (code === TOO_FEW_ARGUMENTS) return /got 0\.$/.test(text) && this.#isCallOfTool(start, end);
    // A tool that declares no input accepts any.
    if (/'never'/.test(text)) return false;
    if (!this.#isInArguments(start)) return false;
    if (code === MISSPELT_PROPERTY) return true;
    if (code === UNKNOWN_PROPERTY) return this.#lacksRequired(start, IN_TYPE.exec(text)?.[1]);
    const value = this.#valueAt(start, end);
    if (value === undefined) return false;
    if (MISSING_PROPERTY.has(code)) return this.#isPlainObject(value);
    if (!NOT_ASSIGNABLE.has(code)) return false;
    return this.#isLiteral(value) || (/^Type 'Promise</.test(text) && this.#isCall(value));
  }

  /** Only object and array literals lie between this position and the brackets of a tool call. */
  #isInArguments(at: number): boolean {
    const { text } = this.#masked;
    let bracket = enclosingBracket(this.#masked, at);
    while (bracket !== undefined && text[bracket] !== '(') bracket = enclosingBracket(this.#masked, bracket);
    if (bracket === undefined || !this.#isTool(text.slice(0, bracket))) return false;
    return this.#names.namespaces === undefined || this.#isByName(bracket);
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
    return bracket >= 0 && bracket <= end + 1 && this.#isTool(text.slice(0, bracket));
  }

  /** Whether this text ends with the name of an imported function, or of a function of an imported module. */
  #isTool(before: string): boolean {
    const { namespaces } = this.#names;
    if (namespaces !== undefined) {
      const namespace = /(?<![\w$.])mcp\s*\.\s*([\w$]+)\s*\.\s*[\w$]+\s*$/.exec(before)?.[1];
      return namespace !== undefined && namespaces.has(namespace);
    }
    const [, module, name] = /(?:(?<![\w$.])([\w$]+)\s*\.\s*)?(?<![\w$])([\w$]+)\s*$/.exec(before) ?? [];
    if (name === undefined) return false;
    if (module !== undefined) return this.#names.modules.has(module);
    return this.#names.functions.has(name) && !/\.\s*[\w$]+\s*$/.test(before);
  }

  /** The start of the value that a diagnostic is about: the position itself, or the value after a property name. */
  #valueAt(start: number, end: number): number | undefined {
    const { text } = this.#masked;
    const colon = /^\s*:\s*/.exec(text.slice(end));
    const isName = /^[\w$'"]/.test(text.slice(start)) && colon !== null;
    if (isName) return end + (colon?.[0].length ?? 0);
    return start;
  }

  /** Whether an object with an unknown property lacks a required one. Unknown properties alone are allowed. */
  #lacksRequired(at: number, type: string | undefined): boolean {
    const open = enclosingBracket(this.#masked, at);
    if (open === undefined || type === undefined || !this.#isPlainObject(open)) return false;
    const close = this.#masked.partner.get(open) ?? open;
    const written = new Set(topLevelParts(this.#source.slice(open + 1, close), ',').map(nameOf));
    return topLevelParts(type.slice(1, -1), ';').some((part) => {
      const [, name = '', isOptional] = /^(?:readonly )?("[^"]*"|[\w$]+)(\?)?:/.exec(part.trim()) ?? [];
      return name !== '' && isOptional === undefined && !written.has(name.replaceAll('"', ''));
    });
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
    if (name === undefined || !this.#isTool(text.slice(0, at + name.trimEnd().length))) return false;
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
