import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/client';
import { HostError } from '../../../domain/errors.js';
import { oneLine } from '../../../lib/text/bounded-text.js';

const MAX_FOREIGN_CHARACTERS = 300;

/** Converts an error of the client library. The authorization server's text in it is untrusted, and bounded. */
export function problemOf(error: unknown, what: string): HostError {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth += 1)
    if (current instanceof HostError) return current;
  const said = error instanceof Error ? error.message : String(error);
  const code = error instanceof OAuthError ? `${oneLine(error.code, 60)}: ` : '';
  return new HostError('upstream_unavailable', `${what}: ${code}${foreign(said)}`, { cause: error });
}

/** Whether an authorization server says that a grant, or the client that holds it, is no longer valid. */
export function isGrantRefused(error: unknown): boolean {
  const final: readonly string[] = [
    OAuthErrorCode.InvalidGrant,
    OAuthErrorCode.InvalidClient,
    OAuthErrorCode.UnauthorizedClient,
  ];
  return error instanceof OAuthError && final.includes(error.code);
}

export function foreign(text: string): string {
  return oneLine(text, MAX_FOREIGN_CHARACTERS);
}
