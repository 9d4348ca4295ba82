import { AGENT_SCOPES, type Principal, type Scope } from '../../domain/principal.js';
import { type GuardRules, hostProblem, originProblem } from './guards.js';
import type { Identified, Identify } from './principals.js';

/** The parts of a request that are checked before anything in it is trusted. */
export interface Visitor {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly token: string | undefined;
}

export interface Refused {
  readonly status: 401 | 403;
  readonly code: 'unauthorized' | 'forbidden';
  readonly message: string;
  /** For the challenge of RFC 6750, if the token was the problem. */
  readonly challenge?: Challenge;
}

export interface Challenge {
  /** Absent if no token was sent: RFC 6750 has no error code for that. */
  readonly error?: 'invalid_token' | 'insufficient_scope';
  /** The scope that a token needs for this request. */
  readonly scope: Scope;
}

/** Which tokens are accepted. */
export interface TokenRules {
  readonly identify: Identify;
  /** How a client without a valid token gets one with this scope. */
  readonly adviceFor: (scope: Scope) => string;
}

/** Decides who is let in, for every protocol: first by host and origin, then by token, then by the token's scope. */
export class Gate {
  readonly rules: GuardRules;
  readonly #tokens: TokenRules | undefined;

  /** Without `tokens`, everybody who reaches the port is let in. */
  constructor(rules: GuardRules, tokens?: TokenRules) {
    this.rules = rules;
    this.#tokens = tokens;
  }

  /** Protects against web pages: see `guards.ts`. */
  placeProblem({ host, origin }: Omit<Visitor, 'token'>): Refused | undefined {
    const message = hostProblem(host, this.rules) ?? originProblem(origin, host, this.rules);
    return message === undefined ? undefined : { status: 403, code: 'forbidden', message };
  }

  /** Throws `issuer_unavailable` if the token cannot be checked now. */
  async whoIs(token: string | undefined, scope: Scope): Promise<{ principal: Principal } | { refused: Refused }> {
    const identified = await this.#identified(token, scope);
    if ('problem' in identified) {
      const challenge: Challenge = token === undefined ? { scope } : { error: 'invalid_token', scope };
      return { refused: { status: 401, code: 'unauthorized', message: identified.problem, challenge } };
    }
    const { principal } = identified;
    const message = scopeProblem(principal, scope);
    if (message === undefined) return { principal };
    return { refused: { status: 403, code: 'forbidden', message, challenge: { error: 'insufficient_scope', scope } } };
  }

  async #identified(token: string | undefined, scope: Scope): Promise<NonNullable<Identified>> {
    if (this.#tokens === undefined) return { principal: ANYBODY };
    const { identify, adviceFor } = this.#tokens;
    const identified = token === undefined ? undefined : await identify(token);
    return identified ?? { problem: `the access token is missing or wrong; ${adviceFor(scope)}` };
  }
}

/** A token that runs code may belong to an agent. Such a token approves nothing, even if it was issued with both scopes. */
function scopeProblem({ scopes }: Principal, scope: Scope): string | undefined {
  if (!scopes.has(scope)) return `this token may not do this: it lacks the scope ${scope}`;
  if (scope === 'approve' && scopes.has('execute'))
    return 'this token runs code, so an agent may hold it: decide with one that has the scope approve and not execute';
  return undefined;
}

/** Everybody who reaches the port, if the configuration lets them in. */
const ANYBODY: Principal = { subject: 'anybody', scopes: AGENT_SCOPES };
