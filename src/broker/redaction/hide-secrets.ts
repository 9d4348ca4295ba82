import { hash } from 'node:crypto';
import { HostError } from '../../domain/errors.js';
import type { JsonValue } from '../../domain/json.js';
import type { HiddenSpans, Redactor } from './redactor.js';
import type { Span } from './span.js';

/** What a person is shown before deciding, and how many secrets in it are shown as marks. */
export interface WithoutSecrets<Value> {
  readonly shown: Value;
  readonly hiddenParts: number;
}

/**
 * The value as shown to a person who decides about it. Each secret is replaced by a mark with its kind, length and digest:
 * `[redacted:github-token 40 characters sha256:1a2b3c4d5e6f]`. The mark covers only the secret itself: what the person approves
 * is sent unchanged, so no pattern may hide text that somebody chose. Text that only looks like a secret is shown. Throws
 * `bad_input` for a value that is nested too deep to be shown.
 */
export function hideSecrets<Value extends JsonValue>(redactor: Redactor, value: Value): WithoutSecrets<Value> {
  let hiddenParts = 0;
  const spans: HiddenSpans = {
    mayHide,
    write: (hidden, kind) => {
      hiddenParts += 1;
      return markOf(hidden, kind);
    },
    tooDeep: () => {
      throw new HostError(
        'bad_input',
        'its arguments are nested too deeply to show them to a person; pass flatter ones',
      );
    },
  };
  const shown = redactor.withSpans(spans).value(value);
  return { shown, hiddenParts };
}

/** The same for a call. Only marks in its arguments are counted, because only those are sent. */
export function hideSecretsOfCall<Call extends { readonly arguments: JsonValue; readonly code: string }>(
  redactor: Redactor,
  call: Call,
): WithoutSecrets<Call> {
  const { shown, hiddenParts } = hideSecrets(redactor, call.arguments);
  return { shown: { ...call, arguments: shown, code: hideSecrets(redactor, call.code).shown }, hiddenParts };
}

/** Card numbers may contain spaces; no other secret does. */
const MAX_LOOSE_CHARACTERS = 40;
/** Tokens are words. */
const MAX_TOKEN_CHARACTERS = 1_024;
const DIGEST_DIGITS = 12;

function markOf(hidden: string, kind: string): string {
  const count = `${hidden.length} character${hidden.length === 1 ? '' : 's'}`;
  return `[redacted:${kind} ${count} sha256:${hash('sha256', hidden, 'hex').slice(0, DIGEST_DIGITS)}]`;
}

/**
 * Kinds that are not hidden. A private key is any text between two markers, and the second may be missing. And a person must
 * always see the recipient of a message.
 */
const SHOWN = new Set(['private-key', 'email', 'phone']);

function mayHide(text: string, { start, end, kind }: Span): boolean {
  // Found by its value: the host holds it, and nobody else chose its text.
  if (kind === 'credential') return true;
  if (SHOWN.has(kind)) return false;
  const length = end - start;
  return length <= MAX_LOOSE_CHARACTERS || (length <= MAX_TOKEN_CHARACTERS && !/\s/.test(text.slice(start, end)));
}
