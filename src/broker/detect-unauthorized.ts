import { isJsonObject, type JsonValue } from '../domain/json.js';
import type { HttpRefusal, UpstreamOutcome } from '../domain/upstream.js';

/** A server states what is wrong first. Later text may quote anything. */
const MAX_READ_CHARACTERS = 300;

const WORDS = [
  /\b(?:http|status|error|code)\W{0,3}(?:code\W{0,3})?401\b|\b401\W{1,3}(?:unauthori[sz]ed|authori[sz]ation|client error)/i,
  /\bunauthori[sz]ed\b|\bunauthenticated\b|\bbad credentials\b|\binvalid_(?:token|grant)\b/i,
  /\bauthentication (?:is )?(?:required|failed)\b|\bnot (?:logged in|authenticated)\b|\b(?:login|log in) (?:is )?required\b/i,
  /\b(?:invalid|expired|revoked|bad|missing) (?:or (?:invalid|expired|revoked|missing) )?(?:[\w-]+ )?(?:token|credentials?|api[ _-]?key)\b/i,
  /\b(?:token|credentials?|api[ _-]?key) (?:is|are|was|has|have)(?: been)? (?:invalid|expired|revoked|not valid|missing)\b/i,
];

/** Tokens of parsers and of lists. A login does not fix these. */
const OTHER_TOKENS =
  /\b(?:page|next|continuation|sync|cursor|csrf|unexpected|illegal) ?_?token|\btoken (?:at|in|near) |syntax|\bpars(?:e|er|ing)\b/i;

/**
 * Whether the error text of a failed call, from a tool or from JSON-RPC, says that its server lacks a valid credential. If the
 * program itself passes a token, that token is the wrong one.
 */
export function saysUnauthorized(text: string, input: JsonValue | undefined, refusal?: HttpRefusal): boolean {
  if (refusal !== undefined) return refusal.status === 401;
  const said = text.slice(0, MAX_READ_CHARACTERS);
  return WORDS.some((words) => words.test(said)) && !OTHER_TOKENS.test(said) && !passesCredential(input);
}

/** Turns a JSON-RPC error that says so into an `unauthorized` failure. */
export function asUnauthorized(outcome: UpstreamOutcome, input: JsonValue | undefined): UpstreamOutcome {
  if (outcome.status === 'answered' || outcome.failure.kind !== 'refused') return outcome;
  const { failure } = outcome;
  if (!saysUnauthorized(failure.message, input, failure.refusal)) return outcome;
  return { status: 'failed', failure: { ...failure, kind: 'unauthorized' } };
}

function passesCredential(input: JsonValue | undefined): boolean {
  return (
    isJsonObject(input) && Object.keys(input).some((key) => /token|password|secret|credential|api_?key/i.test(key))
  );
}
