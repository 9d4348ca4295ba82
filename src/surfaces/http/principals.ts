import { hash, timingSafeEqual } from 'node:crypto';
import type { CapabilitySet } from '../../domain/capability.js';
import { AGENT_SCOPES, type Principal, type Scope } from '../../domain/principal.js';
import { omitUndefined } from '../../lib/omit-undefined.js';

/** Identifies the owner of a token. `problem`: why a token of this kind is not accepted. */
export type Identify = (token: string) => Promise<Identified> | Identified;
export type Identified = { readonly principal: Principal } | { readonly problem: string } | undefined;

/** A token listed in the configuration. Only its digest is stored. */
export interface ListedToken {
  readonly name: string;
  /** SHA-256 of the token, in hexadecimal. Tokens are random: a slow hash would protect nothing. */
  readonly sha256: string;
  readonly scopes: readonly Scope[];
  readonly capabilities?: CapabilitySet;
  /** A person sits at the clients of this token. */
  readonly person?: boolean;
}

/** The holder of this state folder's access token: a process that can read the files of the host's user. */
export const TOKEN_HOLDER = 'token';

/** The token that `codemode token` prints. It is given to agents, so it neither approves nor adds servers. */
export function byAccessToken(token: string): Identify {
  const expected = digest(token);
  const principal: Principal = { subject: TOKEN_HOLDER, scopes: AGENT_SCOPES };
  return (given) => (timingSafeEqual(digest(given), expected) ? { principal } : undefined);
}

/** Tokens that the configuration lists. A token is compared with all of them, so that timing reveals nothing. */
export function byListedTokens(tokens: readonly ListedToken[]): Identify {
  const known = tokens.map(({ name, sha256, scopes, capabilities, person }) => ({
    expected: Buffer.from(sha256, 'hex'),
    principal: {
      subject: `token ${name}`,
      scopes: new Set(scopes),
      ...omitUndefined({ capabilities }),
      ...(person === true ? { person } : {}),
    },
  }));
  return (given) => {
    const found = digest(given);
    const [match] = known.filter(({ expected }) => timingSafeEqual(found, expected));
    return match;
  };
}

/** The first rule that recognizes the token decides. */
export function firstOf(ways: readonly Identify[]): Identify {
  return async (token) => {
    for (const identify of ways) {
      const identified = await identify(token);
      if (identified !== undefined) return identified;
    }
    return undefined;
  };
}

/** A bearer credential of RFC 6750. Nothing else may be in the header. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1];
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
