/** The user's OAuth settings for one server. Values may be secret. */
export interface OAuthSettings {
  /** `authorization_code` needs a person and a browser once; `client_credentials` needs neither. */
  readonly grant: 'authorization_code' | 'client_credentials';
  /** A client that was registered by hand. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** The only authorization server that may be used. */
  readonly issuer?: string;
  readonly scopes?: readonly string[];
  /** URL of our client metadata document, for authorization servers that fetch it. */
  readonly clientMetadataUrl?: string;
  /** The port on 127.0.0.1 that the browser is redirected to. Absent: any free port. */
  readonly redirectPort?: number;
  readonly allowPrivateAddresses: boolean;
}

/** A server's challenge when it refuses a request. Untrusted text. */
export interface AuthorizationChallenge {
  readonly resourceMetadataUrl?: string;
  readonly scope?: string;
}

/** Lends the tokens for requests to one server. Read for each request, because another process may have logged in. */
export interface UpstreamAuthorizer {
  /** The token for the next request. A token that is about to expire is renewed first. */
  token(): Promise<string | undefined>;
  /**
   * The server refused this token. Resolves when there is another token to try. Throws `login_needed`, or
   * `upstream_unavailable` if the authorization server could not be reached.
   */
  renew(refused: string | undefined, challenge: AuthorizationChallenge): Promise<void>;
  /** The token's scope is too narrow for the request. Returns another token, if one can be obtained without a person. */
  widen(refused: string | undefined, challenge: AuthorizationChallenge): Promise<string | undefined>;
  /** All values that must be redacted. */
  secrets(): readonly string[];
}

/** The parts of an authorization server's metadata that are needed later. */
export interface AuthorizationServer {
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint?: string;
  /** The client authentication methods that it accepts. */
  readonly clientAuthentication: readonly string[];
}

/** Our client registration at an authorization server. */
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
