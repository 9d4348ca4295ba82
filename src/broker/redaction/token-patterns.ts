import {
  type Alphabet,
  ARMOUR,
  ATLASSIAN,
  BASE64URL,
  CAPITALS,
  HEX,
  isIn,
  isWordStart,
  runEnd,
  runStart,
  STANDARD_BASE64,
  WORD,
  WORD_AND_DASH,
  WORD_AND_LINE,
} from './characters.js';
import type { Span } from './span.js';

/**
 * Credentials with an unmistakable format: a vendor's prefix, a header, a fixed length. Each has an anchor, a fixed text that
 * the search finds in its single pass. Only there more is checked, forwards and backwards over characters that no other match
 * reads again. No backtracking expression is involved, so time stays proportional to the text.
 */
export interface TokenPattern {
  readonly anchor: string;
  /** The span to redact, if the anchor at this position belongs to such a credential. */
  match(text: string, at: number): Span | undefined;
}

export const TOKEN_PATTERNS: readonly TokenPattern[] = [
  ...['AKIA', 'ASIA'].map((prefix) => token('aws-key', prefix, CAPITALS, 16, 16)),
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((prefix) => token('github-token', prefix, WORD, 36, 251)),
  token('github-token', 'github_pat_', WORD_AND_LINE, 40, 255),
  token('gitlab-token', 'glpat-', BASE64URL, 20, 300),
  token('npm-token', 'npm_', WORD, 36, 36),
  ...['xoxb-', 'xoxa-', 'xoxp-', 'xoxr-', 'xoxs-', 'xoxe-', 'xoxc-', 'xoxd-', 'xapp-'].map((prefix) =>
    token('slack-token', prefix, WORD_AND_DASH, 20, 500),
  ),
  ...['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'].map((prefix) =>
    token('stripe-key', prefix, WORD, 16, 300),
  ),
  token('google-key', 'AIza', BASE64URL, 35, 35),
  token('google-key', 'ya29.', BASE64URL, 30, 3_000),
  token('google-key', 'GOCSPX-', BASE64URL, 28, 28),
  token('anthropic-key', 'sk-ant-', BASE64URL, 24, 300),
  ...['sk-proj-', 'sk-svcacct-', 'sk-admin-'].map((prefix) => token('openai-key', prefix, BASE64URL, 24, 300)),
  token('pypi-token', 'pypi-AgE', BASE64URL, 50, 1_000),
  token('hugging-face-token', 'hf_', WORD, 34, 40),
  ...['dop_v1_', 'doo_v1_', 'dor_v1_'].map((prefix) => token('digitalocean-token', prefix, HEX, 64, 64)),
  { anchor: 'SG.', match: sendGridKey },
  token('linear-key', 'lin_api_', WORD, 32, 64),
  token('notion-token', 'ntn_', WORD, 40, 60),
  withDigit(token('vault-token', 'hvs.', BASE64URL, 24, 300)),
  token('atlassian-token', 'ATATT3', ATLASSIAN, 50, 500),
  withDigit(token('gitlab-token', 'glrt-', BASE64URL, 20, 300)),
  withDigit(token('tailscale-key', 'tskey-', WORD_AND_DASH, 20, 200)),
  token('age-key', 'AGE-SECRET-KEY-1', CAPITALS, 58, 58),
  { anchor: 'AccountKey=', match: azureAccountKey },
  { anchor: 'T3BlbkFJ', match: olderOpenAiKey },
  { anchor: '.eyJ', match: jwt },
  { anchor: '-----BEGIN ', match: privateKey },
];

/** A prefix and between `least` and `most` characters after it. If the two are equal, the token must end there. */
function token(kind: string, anchor: string, characters: Alphabet, least: number, most: number): TokenPattern {
  return {
    anchor,
    match: (text, at) => {
      if (!isWordStart(text, at)) return undefined;
      const body = at + anchor.length;
      const end = runEnd(characters, text, body, most);
      if (end - body < least || (least === most && isIn(characters, text, end))) return undefined;
      return { start: at, end, kind };
    },
  };
}

/** Requires a digit: words joined by dashes, as in the name of a page, have none. */
function withDigit({ anchor, match }: TokenPattern): TokenPattern {
  return {
    anchor,
    match: (text, at) => {
      const span = match(text, at);
      return span !== undefined && /\d/.test(text.slice(at + anchor.length, span.end)) ? span : undefined;
    },
  };
}

/** `SG.`, 22 characters, a dot, 43 more. */
function sendGridKey(text: string, at: number): Span | undefined {
  if (!isWordStart(text, at)) return undefined;
  const dot = runEnd(BASE64URL, text, at + 3, 22);
  if (dot !== at + 25 || text[dot] !== '.') return undefined;
  const end = runEnd(BASE64URL, text, dot + 1, 43);
  if (end !== dot + 44 || isIn(BASE64URL, text, end)) return undefined;
  return { start: at, end, kind: 'sendgrid-key' };
}

/** 64 bytes in base64: 86 characters and `==`. The name is kept, because it shows what was there. */
function azureAccountKey(text: string, at: number): Span | undefined {
  const start = at + 'AccountKey='.length;
  const end = runEnd(STANDARD_BASE64, text, start, 86);
  if (end !== start + 86 || !text.startsWith('==', end)) return undefined;
  return { start, end: end + 2, kind: 'azure-key' };
}

/** `sk-`, twenty characters, these eight ("OpenAI" in base64), twenty more. */
function olderOpenAiKey(text: string, at: number): Span | undefined {
  const start = at - 23;
  if (start < 0 || !text.startsWith('sk-', start) || !isWordStart(text, start)) return undefined;
  if (runEnd(WORD, text, start + 3, 48) !== start + 51) return undefined;
  return { start, end: start + 51, kind: 'openai-key' };
}

/** Header and payload are JSON objects, so both begin with `eyJ`. The search finds the payload. */
function jwt(text: string, at: number): Span | undefined {
  const run = runStart(BASE64URL, text, at);
  const start = text.indexOf('eyJ', run);
  if (start < 0 || at - start < 10) return undefined;
  const payloadEnd = runEnd(BASE64URL, text, at + 1);
  if (payloadEnd - at < 10 || text[payloadEnd] !== '.') return undefined;
  return { start, end: runEnd(BASE64URL, text, payloadEnd + 1), kind: 'jwt' };
}

const LONGEST_LABEL = 40;

/** Up to its end marker, or as far as the key goes if the marker was cut off. */
function privateKey(text: string, at: number): Span | undefined {
  const label = text.slice(at, at + LONGEST_LABEL + 20);
  const head = /^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY( BLOCK)?-----/.exec(label)?.[0];
  if (head === undefined) return undefined;
  let end = runEnd(ARMOUR, text, at + head.length);
  // Headers such as `Proc-Type: 4,ENCRYPTED` and `DEK-Info: AES-128-CBC` have single dashes.
  while (text[end] === '-' && !text.startsWith('-----', end)) end = runEnd(ARMOUR, text, end + 1);
  const tail = /^-----END [A-Z0-9 ]{0,60}-----/.exec(text.slice(end, end + LONGEST_LABEL + 30))?.[0];
  return { start: at, end: end + (tail?.length ?? 0), kind: 'private-key' };
}
