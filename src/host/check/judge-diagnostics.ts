import type { SourcePosition } from '../../domain/run.js';
import type { CompilerDiagnostic, TypeProblem } from '../../domain/type-check.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { visibleLine } from '../../lib/text/visible-text.js';
import { importedNames, membersOf } from './imported-names.js';
import { maskSource } from './mask-source.js';
import { PromiseUse } from './promise-use.js';
import { type InputSchemaOf, ToolArguments } from './tool-arguments.js';

/** The most characters a model has to read about one problem. */
const MAX_MESSAGE_CHARACTERS = 600;

/**
 * Separates definite runtime failures from diagnostics that may be harmless. The compiler is right about types, but programs run
 * without them. So a mistake counts only if the value is a literal in the source, or a name cannot exist. A doubtful diagnostic is
 * a warning. A program that catches errors may rely on them, so nothing in it is definite. `namespaces`: the members of `mcp` in a
 * function body.
 */
export function judgeDiagnostics(
  source: string,
  found: readonly CompilerDiagnostic[],
  schemaOf: InputSchemaOf,
  namespaces?: readonly string[],
): TypeProblem[] {
  const positions = new Positions(source);
  const masked = maskSource(source);
  const isHandled = masked === undefined || HANDLES_ERRORS.test(masked.text) || handlesInNode(source, masked.text);
  const names = namespaces === undefined ? importedNames(source) : membersOf(namespaces);
  const tools = masked && new ToolArguments(source, masked, names, schemaOf);
  const promises = masked && new PromiseUse(source, masked);
  const isCertain = (each: CompilerDiagnostic): boolean =>
    each.isSyntax === true ||
    (!isHandled &&
      (tools?.isRefused(each) === true ||
        promises?.isMisused(each) === true ||
        isUnknownName(each, masked?.text ?? '')));
  return found
    .filter(({ code, isSyntax }) => isSyntax === true || !isNoise(code))
    .map((each) => withMeantName(each, isCertain(each) ? tools : undefined))
    .map((each): TypeProblem => {
      const severity = isCertain(each) ? 'error' : 'warning';
      const line = severity === 'error' ? correctedLine(each, source) : undefined;
      const hint = hintFor(each, promises?.isMisused(each) === true, line);
      return {
        severity,
        code: each.code,
        message: messageOf(each, source),
        ...omitUndefined({ hint }),
        position: positions.at(each.start),
      };
    })
    .sort((a, b) => Number(b.severity === 'error') - Number(a.severity === 'error'));
}

/** The same with the property that was meant, where the compiler does not name it. */
function withMeantName(found: CompilerDiagnostic, tools: ToolArguments | undefined): CompilerDiagnostic {
  const meant = found.code === UNKNOWN_OF_TYPE ? tools?.missingNear(found) : undefined;
  const text = `${found.text} Did you mean to write '${meant}'?`;
  return meant === undefined ? found : { ...found, code: UNKNOWN_BUT, text };
}

const UNKNOWN_OF_TYPE = 2353;
/** The compiler's number for an unknown property with a suggestion. */
const UNKNOWN_BUT = 2561;

const HANDLES_ERRORS = /\bcatch\b|\ballSettled\b|\bPromise\s*\.\s*any\b|\.\s*then\s*\([^()]*,/;

/** What Node programs can do besides: `normalize` of their client turns errors into values, and a process has handlers. */
function handlesInNode(source: string, masked: string): boolean {
  return NODE_CLIENT.test(source) && (/\bnormalize\b/.test(masked) || /\bprocess\s*\.\s*on(?:ce)?\b/.test(masked));
}

const NODE_CLIENT = /["']\.\/(?:client|servers)\//;

/** 7xxx: missing type annotations. 1xxx: grammar, which the sandbox judges by its own rules. */
function isNoise(code: number): boolean {
  return (code >= 7000 && code < 8000 && code !== NO_INDEX) || code < 2000;
}

const NO_INDEX = 7053;
const NO_EXPORT = 2305;
const NO_EXPORT_BUT = 2724;
const NO_PROPERTY = 2339;
const NO_PROPERTY_BUT = 2551;
const NO_MODULE = 2307;
const NO_SERVER = /^There is no server /;
const OF_SERVER = /@codemode\/servers\//;
const OF_FILE = /modules\/(?:servers\/|scripts\b)|@codemode\/scripts/;
const OF_MODULE = /on type 'typeof import\("\/p\/(?:modules\/(?:servers\/|scripts\b|api\/)|servers\/)/;

/** A function that its server does not have, or a server that does not exist. Types may be imported even if they do not exist. */
function isUnknownName({ code, text, start, end }: CompilerDiagnostic, masked: string): boolean {
  if (code === NO_MODULE) return NO_SERVER.test(text) && !/^\s*import\s+type\b/.test(lineAt(masked, start));
  const name = masked.slice(start, end);
  if (code === NO_EXPORT || code === NO_EXPORT_BUT) {
    if (!OF_SERVER.test(text) && !OF_FILE.test(text)) return false;
    const alias = /^\s+as\s+([\w$]+)/.exec(masked.slice(end))?.[1] ?? name;
    return /^[\w$]+$/.test(alias) && new RegExp(`(?<![\\w$.])${alias.replaceAll('$', '\\$')}\\s*\\(`).test(masked);
  }
  // Accessed with `?.`, so it may be missing.
  if (code !== NO_PROPERTY && code !== NO_PROPERTY_BUT) return false;
  return (
    OF_MODULE.test(text) && masked[start - 1] === '.' && masked[start - 2] !== '?' && /^\s*\(/.test(masked.slice(end))
  );
}

function lineAt(text: string, at: number): string {
  const end = text.indexOf('\n', at);
  return text.slice(text.lastIndexOf('\n', at - 1) + 1, end < 0 ? text.length : end);
}

const MEANT = /Did you mean (?:to write )?'([^']+)'\?$/;

function hintFor({ text }: CompilerDiagnostic, isPromise: boolean, line: string | undefined): string | undefined {
  const meant = MEANT.exec(text)?.[1];
  if (meant !== undefined) return `Write ${meant}${line === undefined ? '' : `: \`${line}\``}.`;
  return isPromise ? 'Write await before the call.' : undefined;
}

/** Longer lines are not quoted. */
const MAX_LINE_CHARACTERS = 160;

/** The misspelt name is at the position itself. For a value that is not allowed, the position is that of its property name. */
const MISSPELT_NAME: ReadonlySet<number> = new Set([NO_PROPERTY_BUT, NO_EXPORT_BUT, NO_MODULE, UNKNOWN_BUT]);
const MISSPELT_VALUE = 2820;

/** The source line with the suggested name. */
function correctedLine(diagnostic: CompilerDiagnostic, source: string): string | undefined {
  const meant = MEANT.exec(diagnostic.text)?.[1];
  const place = meant === undefined ? undefined : misspeltIn(diagnostic, source);
  if (meant === undefined || place === undefined) return undefined;
  const from = source.lastIndexOf('\n', place.start - 1) + 1;
  const to = source.indexOf('\n', place.end);
  const rest = source.slice(place.end, to < 0 ? undefined : to);
  const line = `${source.slice(from, place.start)}${place.quote}${meant}${place.quote}${rest}`.trim();
  return line.length > MAX_LINE_CHARACTERS ? undefined : visibleLine(line);
}

function misspeltIn({ code, start, end }: CompilerDiagnostic, source: string) {
  if (MISSPELT_NAME.has(code)) {
    const quote = /^(["']?)[\w$@/-]+\1$/.exec(source.slice(start, end))?.[1];
    return quote === undefined ? undefined : { start, end, quote };
  }
  if (code !== MISSPELT_VALUE) return undefined;
  const [whole, before = ''] = /^(\s*:\s*)(["'])[^"'\\\n]*\2/.exec(source.slice(end)) ?? [];
  // The suggestion includes its quotes.
  return whole === undefined ? undefined : { start: end + before.length, end: end + whole.length, quote: '' };
}

/** Codes whose message does not say which property is wrong. */
const OF_PROPERTY: ReadonlySet<number> = new Set([2322, 2739, 2740, 2741, 2820]);

function messageOf({ code, text, chain, start, end }: CompilerDiagnostic, source: string): string {
  const reason = chain.at(-1)?.text;
  const whole = reason === undefined ? text : `${text} ${reason}`;
  const name = OF_PROPERTY.has(code) ? /^["']?([\w$-]{1,60})["']?$/.exec(source.slice(start, end))?.[1] : undefined;
  const plain = `${name === undefined ? '' : `${name}: `}${whole}`
    .replaceAll(/typeof import\("\/p\/modules\/api\/([^"]+)"\)/g, 'mcp.$1')
    .replaceAll(/typeof import\("\/p\/modules\/([^"]+)"\)/g, '@codemode/$1')
    .replaceAll(/typeof import\("\/p\/(servers\/[^"]+)"\)/g, './$1.js')
    // The resolved type does not help an author who forgot `await`.
    .replaceAll(/'Promise<.{60,}?>'/gs, "'Promise<...>'")
    .replaceAll(' | undefined', '')
    // Types of Node cannot be installed for a sandbox.
    .replace(/ Do you need to install type definitions .*$/s, '');
  const cut = plain.length > MAX_MESSAGE_CHARACTERS ? `${plain.slice(0, MAX_MESSAGE_CHARACTERS)}...` : plain;
  return visibleLine(cut);
}

/** Lines and columns of offsets, both from 1. */
class Positions {
  readonly #starts: number[] = [0];

  constructor(source: string) {
    for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) this.#starts.push(at + 1);
  }

  at(offset: number): SourcePosition {
    let line = this.#starts.findIndex((start) => start > offset);
    if (line < 0) line = this.#starts.length;
    return { line, column: offset - (this.#starts[line - 1] ?? 0) + 1 };
  }
}
