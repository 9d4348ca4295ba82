import { accountOf } from '../../broker/credentials/account.js';
import type { CredentialStatus, Credentials, LogoutReport } from '../../broker/credentials/credentials.js';
import type { LoginRequest } from '../../broker/credentials/login.js';
import { HostError } from '../../domain/errors.js';
import { kindOf } from '../../domain/targets/targets.js';
import type { UpstreamDefinition } from '../../domain/upstream.js';
import { nearest } from '../../lib/text/nearest.js';

export type { CredentialStatus, LoginRequest, LogoutReport };

/** A configured server that cannot be used. */
interface DisabledServer {
  readonly id: string;
  readonly reason: string;
}

/** Login and logout for configured servers, for people. No agent reaches it. */
export class Logins {
  readonly #credentials: Credentials;
  readonly #definitions: readonly UpstreamDefinition[];
  readonly #disabled: readonly DisabledServer[];

  constructor(
    credentials: Credentials,
    definitions: readonly UpstreamDefinition[],
    disabled: readonly DisabledServer[] = [],
  ) {
    this.#credentials = credentials;
    this.#definitions = definitions;
    this.#disabled = disabled;
  }

  /** Throws `not_found`, `bad_input` for a server that takes no login, `upstream_unavailable` or `login_needed`. */
  async login(name: string, request: LoginRequest): Promise<CredentialStatus> {
    const definition = this.#definition(name);
    const account = accountOf(definition);
    if (account !== undefined) return this.#credentials.login(account, request);
    const { login } = kindOf(definition.target);
    const why =
      login === 'possible'
        ? 'its token is set by hand: renew it in the configuration, or remove the Authorization header and try again'
        : login.whyNot;
    throw new HostError('bad_input', `no login for server ${JSON.stringify(name)}: ${why}`);
  }

  /** Also works for a server that is no longer configured. */
  async logout(name: string): Promise<LogoutReport> {
    const leftovers = await this.#credentials.leftovers(this.#definitions.map(({ id }) => id));
    if (leftovers.includes(name)) return this.#credentials.logout(name, undefined);
    return this.#credentials.logout(name, accountOf(this.#definition(name)));
  }

  async status(): Promise<{ readonly servers: CredentialStatus[]; readonly leftovers: string[] }> {
    return {
      servers: await Promise.all(this.#definitions.map((definition) => this.#credentials.status(definition))),
      leftovers: await this.#credentials.leftovers(this.#definitions.map(({ id }) => id)),
    };
  }

  #definition(name: string): UpstreamDefinition {
    const found = this.#definitions.find(({ id }) => id === name);
    if (found !== undefined) return found;
    const disabled = this.#disabled.find(({ id }) => id === name);
    if (disabled !== undefined) throw new HostError('bad_config', disabled.reason);
    const known = this.#definitions.map(({ id }) => id);
    const [close] = nearest(name, known, 1);
    const help = known.length === 0 ? 'no servers are configured' : `there are: ${known.slice(0, 30).join(', ')}`;
    throw new HostError(
      'not_found',
      `there is no server ${JSON.stringify(name)}; ${close === undefined ? help : `did you mean ${close}?`}`,
    );
  }
}
