/** How the user wants one server to be authorized for. Values may be secret. */
export interface OAuthSettings {
  /** `authorization_code` needs a person and a browser once; `client_credentials` needs neither. */
  readonly grant: 'authorization_code' | 'client_credentials';
  /** A client that was registered by hand. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** The only authorization server that may be used. */
  readonly issuer?: string;
  readonly scopes?: readonly string[];
  /** Where our own description as a client lies, for authorization servers that fetch it. */
  readonly clientMetadataUrl?: string;
  /** The port of 127.0.0.1 to which the browser comes back; any free one without it. */
  readonly redirectPort?: number;
  readonly allowPrivateAddresses: boolean;
}

/** What a server says when it refuses a request. Its own words: untrusted. */
export interface AuthorizationChallenge {
  readonly resourceMetadataUrl?: string;
  readonly scope?: string;
}

/** Lends the tokens for the requests to one server. Read for each request: another process may have logged in. */
export interface UpstreamAuthorizer {
  /** The token for the next request, renewed first where it is about to expire. */
  token(): Promise<string | undefined>;
  /**
   * The server refused this token. Resolved when there is another one to try with; throws `login_needed`, or
   * `upstream_unavailable` where nobody could be asked.
   */
  renew(refused: string | undefined, challenge: AuthorizationChallenge): Promise<void>;
  /** The token is good for less than was asked. Another one, if it can be had without a person. */
  widen(refused: string | undefined, challenge: AuthorizationChallenge): Promise<string | undefined>;
  /** Whatever of it must not be shown. */
  secrets(): readonly string[];
}

/** An authorization server, as it described itself and as far as it is used again later. */
export interface AuthorizationServer {
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint?: string;
  /** How clients may prove who they are. */
  readonly clientAuthentication: readonly string[];
}

/** What we are to an authorization server. */
export interface OAuthClient {
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly authentication?: string;
}

export interface TokenSet {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** As the authorization server gave it, separated by spaces. */
  readonly scope?: string;
  readonly issuedAtMs: number;
  readonly expiresAtMs?: number;
}
