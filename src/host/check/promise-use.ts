import type { CompilerDiagnostic } from '../../domain/type-check.js';
import { enclosingBracket, type MaskedSource } from './mask-source.js';

const NO_PROPERTY: ReadonlySet<number> = new Set([2339, 2551]);
const NO_INDEX = 7053;
const NOT_ITERABLE: ReadonlySet<number> = new Set([2488, 2504]);
const ON_TYPE = /on type '(.*)'\.(?: Did you mean .*)?$/s;
const OF_TYPE = /^Type '(.*)' must have a/s;

/** Finds promises that are used as if they were their resolved values. */
export class PromiseUse {
  readonly #source: string;
  readonly #masked: MaskedSource;
  /** An author who writes types may know better. */
  readonly #hasOwnPromises: boolean;

  constructor(source: string, masked: MaskedSource) {
    this.#source = source;
    this.#masked = masked;
    this.#hasOwnPromises = /\bPromise\s*</.test(masked.text) || /\bas\s+any\b/.test(masked.text);
  }

  /** Whether the value is always a promise at this position and nothing else. */
  isMisused({ code, start, end, text, chain }: CompilerDiagnostic): boolean {
    if (this.#hasOwnPromises) return false;
    const masked = this.#masked.text;
    if (NO_PROPERTY.has(code)) return isPromise(ON_TYPE.exec(text)?.[1]) && this.#isOfCertain(start, end);
    if (NOT_ITERABLE.has(code)) {
      if (!isPromise(OF_TYPE.exec(text)?.[1])) return false;
      const pattern = /^\[/.test(masked.slice(start)) ? this.#assigned(end) : undefined;
      return this.#isCertain(pattern ?? masked.slice(start, end));
    }
    if (code !== NO_INDEX || !isPromise(ON_TYPE.exec(chain[0]?.text ?? '')?.[1])) return false;
    const base = /^([\s\S]*)\[[^[\]]*\]$/.exec(masked.slice(start, end))?.[1] ?? '';
    return !base.endsWith('?.') && !/^\s*=(?!=)/.test(masked.slice(end)) && this.#isCertain(base);
  }

  #isOfCertain(start: number, end: number): boolean {
    const masked = this.#masked.text;
    const name = masked.slice(start, end);
    // The program gives promises properties of its own.
    if (new RegExp(`\\.\\s*${name.replaceAll('$', '\\$')}\\s*=(?!=)`).test(masked)) return false;
    if (masked[start - 1] === '.') return masked[start - 2] !== '?' && this.#isCertain(masked.slice(0, start - 1));
    const bracket = enclosingBracket(this.#masked, start);
    if (bracket === undefined || masked[bracket] !== '{') return false;
    const close = this.#masked.partner.get(bracket);
    const value = close === undefined ? undefined : this.#assigned(close + 1);
    return value !== undefined && this.#isCertain(value);
  }

  /** The value that the pattern ending here destructures. */
  #assigned(end: number): string | undefined {
    const { text, partner } = this.#masked;
    const [equals] = /^\s*=\s*/.exec(text.slice(end)) ?? [];
    if (equals === undefined) return undefined;
    const from = end + equals.length;
    const [name] = /^[\w$]+(?:\s*\.\s*[\w$]+)*/.exec(text.slice(from)) ?? [];
    if (name === undefined || name === 'await') return undefined;
    const after = from + name.length;
    if (text[after] !== '(') return name;
    const close = partner.get(after);
    return close === undefined || !/^\s*(?:;|\n|$)/.test(text.slice(close + 1))
      ? undefined
      : text.slice(from, close + 1);
  }

  /** The result of a call, or a constant: a variable may have been reassigned. */
  #isCertain(before: string): boolean {
    const trimmed = before.trimEnd();
    if (trimmed.endsWith(')')) return true;
    const name = /(?<![\w$.])([A-Za-z_$][\w$]*)$/.exec(trimmed)?.[1];
    if (name === undefined) return false;
    const escaped = name.replaceAll('$', '\\$');
    const count = (pattern: string) => [...this.#masked.text.matchAll(new RegExp(pattern, 'g'))].length;
    const constants = count(`\\bconst\\s+${escaped}\\s*=(?!=)`);
    return constants === 1 && count(`(?<![\\w$.])${escaped}\\s*=(?![=>])`) === constants && this.#source.length > 0;
  }
}

/** `Promise<...>`, not in a union. */
function isPromise(type: string | undefined): boolean {
  if (type === undefined || !type.startsWith('Promise<')) return false;
  let depth = 0;
  for (let at = 0; at < type.length; at += 1) {
    if (type[at] === '<') depth += 1;
    else if (type[at] === '>' && type[at - 1] !== '=') {
      depth -= 1;
      if (depth === 0) return at === type.length - 1;
    }
  }
  return false;
}
