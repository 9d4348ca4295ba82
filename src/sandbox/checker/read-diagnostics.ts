import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { CompilerDiagnostic } from '../../domain/type-check.js';

/** Nobody reads more than this. */
const MAX_DIAGNOSTICS = 200;
const MAX_CHAIN = 12;
const MAX_TEXT_CHARACTERS = 4_000;
const ERROR = 1;
/** Jumps that no engine can parse, though the compiler reads on: `return`, `break`, `continue` and `await` where they cannot be. */
const MISPLACED: ReadonlySet<number> = new Set([1103, 1104, 1105, 1107, 1108, 1115, 1116, 1308]);

/** Reads the answer of a jailed compiler: untrusted data, bounded in every direction. */
export function readDiagnostics(answer: JsonValue): CompilerDiagnostic[] {
  if (answer === null) return [];
  if (!Array.isArray(answer)) throw new Error('it answered with something that is not a list');
  return answer.slice(0, MAX_DIAGNOSTICS).flatMap((each) => {
    if (!isJsonObject(each) || each.category !== ERROR) return [];
    const { pos, end, code } = each;
    if (typeof pos !== 'number' || typeof end !== 'number' || typeof code !== 'number') return [];
    if (!(pos >= 0 && end >= pos)) return [];
    const found = { start: pos, end, code, text: textOf(each), chain: chainOf(each), related: relatedOf(each) };
    return [MISPLACED.has(code) ? { ...found, isSyntax: true as const } : found];
  });
}

function textOf({ text }: JsonObject): string {
  return typeof text === 'string' ? text.slice(0, MAX_TEXT_CHARACTERS) : '';
}

/** The chain of reasons, each nested under the one before it. */
function chainOf(diagnostic: JsonObject): CompilerDiagnostic['chain'] {
  const chain: { code: number; text: string }[] = [];
  let [next] = Array.isArray(diagnostic.messageChain) ? diagnostic.messageChain : [];
  while (isJsonObject(next) && chain.length < MAX_CHAIN) {
    chain.push({ code: typeof next.code === 'number' ? next.code : 0, text: textOf(next) });
    [next] = Array.isArray(next.messageChain) ? next.messageChain : [];
  }
  return chain;
}

function relatedOf({ relatedInformation }: JsonObject): CompilerDiagnostic['related'] {
  if (!Array.isArray(relatedInformation)) return [];
  return relatedInformation.slice(0, MAX_CHAIN).flatMap((each) => {
    if (!isJsonObject(each) || typeof each.fileName !== 'string' || typeof each.code !== 'number') return [];
    return [{ file: each.fileName, code: each.code, text: textOf(each) }];
  });
}
