import { authOfHeaders, credentialMethodOfHeaders, type TargetKind } from './target-kind.js';

/** An HTTP API that an OpenAPI document describes. */
export interface OpenApiTarget {
  readonly kind: 'openapi';
  /** An absolute path, or an http(s) address. */
  readonly document: string;
  /** Base URL of calls. Absent: the document's own `servers`, as far as the document may decide that. */
  readonly baseUrl?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth?: ApiCredential;
}

/** The credential sent with every call. If the user does not set `in` and `name` of a key, the document's values apply. */
export type ApiCredential =
  | { readonly type: 'bearer'; readonly token: string }
  | { readonly type: 'basic'; readonly username: string; readonly password: string }
  | {
      readonly type: 'apiKey';
      readonly key: string;
      readonly in?: 'header' | 'query' | 'cookie';
      readonly name?: string;
    };

export const OPENAPI: TargetKind<OpenApiTarget> = {
  identityOf: ({ document, baseUrl }) => [document, baseUrl],
  secretPlacesOf: ({ headers, document, baseUrl = '', auth }) => ({
    settings: [headers],
    words: [],
    addresses: [document, baseUrl],
    credentials: credentialsIn(auth),
  }),
  authOf: ({ auth, headers }) => auth?.type ?? authOfHeaders(headers),
  credentialMethodOf: ({ auth, headers }) => (auth === undefined ? credentialMethodOfHeaders(headers) : 'header'),
  login: { whyNot: 'it is an OpenAPI document: set auth of that server' },
};

/** A password is redacted in its base64 form too: the redactor derives the encoded forms of the values it is given. */
function credentialsIn(auth: ApiCredential | undefined): readonly (readonly [name: string, value: string])[] {
  switch (auth?.type) {
    case 'bearer':
      return [['token', auth.token]];
    case 'basic':
      return [['password', auth.password]];
    case 'apiKey':
      return [['key', auth.key]];
    case undefined:
      return [];
  }
}
