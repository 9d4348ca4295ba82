import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify } from 'jose';
import type { CapabilitySet } from '../../domain/capability.js';
import { HostError, isHostError } from '../../domain/errors.js';
import { SCOPES, type Scope } from '../../domain/principal.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import type { Identified, Identify } from './principals.js';

export interface IssuerOptions {
  readonly issuer: string;
  readonly audience: string;
  /** Reads the claim `capabilities`. Throws `bad_input`. */
  readonly readCapabilities: (claim: unknown) => CapabilitySet;
}

/** Asymmetric signatures only. An HMAC could be forged with a public key as its secret, and `none` is not a signature. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const CLOCK_SKEW_SECONDS = 30;
const FETCH_TIMEOUT_MS = 5_000;
/** Maximum size of the metadata and of the keys, each. */
const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_TOKEN_CHARACTERS = 16 * 1024;
/** A failed discovery is not repeated for every request with a token. */
const RETRY_AFTER_MS = 5_000;

type Keys = ReturnType<typeof createRemoteJWKSet>;

/**
 * Tokens of one issuer (OAuth 2, OpenID Connect). Its keys are found through its metadata at the first use and cached. They are
 * fetched again if a token names an unknown key.
 */
export function byIssuer(options: IssuerOptions): Identify {
  let keys: Promise<Keys> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  const find = (): Promise<Keys> => {
    if (keys === undefined && performance.now() - failedAt < RETRY_AFTER_MS)
      return Promise.reject(unreachable(options.issuer));
    keys ??= discoverKeys(options.issuer).catch((error: unknown) => {
      keys = undefined;
      failedAt = performance.now();
      throw error;
    });
    return keys;
  };
  return async (token) => {
    // Three parts with dots between them; anything else is another kind of token.
    if (!/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) return undefined;
    if (token.length > MAX_TOKEN_CHARACTERS) return { problem: 'the token is too long' };
    return verify(token, await find(), options);
  };
}

async function verify(token: string, keys: Keys, options: IssuerOptions): Promise<Identified> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer: options.issuer,
      audience: options.audience,
      algorithms: ALGORITHMS,

      clockTolerance: CLOCK_SKEW_SECONDS,
      requiredClaims: ['sub', 'exp'],
    });
    return principalOf(payload, options);
  } catch (error) {
    if (error instanceof errors.JWKSTimeout || !(error instanceof errors.JOSEError)) {
      if (isHostError(error, 'bad_input')) return { problem: error.message };
      throw unreachable(options.issuer, error);
    }
    return { problem: problemOf(error) };
  }
}

function principalOf(payload: JWTPayload, { readCapabilities }: IssuerOptions): Identified {
  if (typeof payload.sub !== 'string' || payload.sub === '') return { problem: 'the token names no subject' };
  const { scope, scopes: listed, scp, capabilities } = payload;
  const named = [scope, listed, scp].flatMap(scopeNames);
  const scopes = new Set<Scope>(SCOPES.filter((each) => named.includes(each)));
  const bounds = omitUndefined({ capabilities: ifDefined(capabilities, readCapabilities) });
  const { exp } = payload;
  const expiry = omitUndefined({ expiresAtMs: ifDefined(exp, (exp) => (exp + CLOCK_SKEW_SECONDS) * 1_000) });
  return { principal: { subject: `user ${payload.sub}`, scopes, ...bounds, ...expiry } };
}

/** `scope` of RFC 8693 is a list separated by spaces. Issuers also send `scopes` and `scp`, as text or as an array. */
function scopeNames(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ');
  return Array.isArray(claim) ? claim.filter((each) => typeof each === 'string') : [];
}

/** What is wrong, without repeating claims of the token. */
function problemOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'the token has expired';
  if (error instanceof errors.JWTClaimValidationFailed) return `the token's claim ${error.claim} is not right`;
  if (error instanceof errors.JOSEAlgNotAllowed) return 'the token is signed in a way that is not accepted';
  return 'the token was not issued by the configured issuer';
}

/** Tries the location of OpenID Connect first, then that of RFC 8414. */
async function discoverKeys(issuer: string): Promise<Keys> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const places = [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
  for (const place of places) {
    const metadata = await readMetadata(place);
    // Metadata that names another issuer is not this issuer's.
    if (metadata?.issuer !== issuer || typeof metadata.jwks_uri !== 'string') continue;
    const url = new URL(metadata.jwks_uri);
    if (url.protocol !== 'https:' && url.origin !== origin) continue;
    return createRemoteJWKSet(url, { timeoutDuration: FETCH_TIMEOUT_MS, [customFetch]: fetchKeys });
  }
  throw unreachable(issuer);
}

function unreachable(issuer: string, cause?: unknown): HostError {
  const message = `the token cannot be checked now: the metadata or keys of ${issuer} cannot be read; try again later`;
  return new HostError('issuer_unavailable', message, { cause });
}

async function readMetadata(place: string): Promise<Record<string, unknown> | undefined> {
  try {
    const answer = await fetch(place, { redirect: 'error', signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
    if (!answer.ok) return undefined;
    const value: unknown = JSON.parse(await readBounded(answer));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

async function fetchKeys(url: string, options: RequestInit): Promise<Response> {
  const answer = await fetch(url, options);
  return new Response(await readBounded(answer), { status: answer.status });
}

/** Throws if the answer is longer. Leaving the loop ends the request. */
async function readBounded(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
