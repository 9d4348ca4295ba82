/** How calls to an upstream are authenticated, if at all. */
export type AuthType = 'bearer' | 'basic' | 'apiKey' | 'header';

/** The parts of a target that may hold secrets. They differ in which values count as secrets. */
export interface SecretPlaces {
  /** Settings by name. Every value that could be a secret counts as one. */
  readonly settings: readonly Readonly<Record<string, string>>[];
  /** Words of a command line. Most are not secrets, so only a telling name or format makes a word count as one. */
  readonly words: readonly string[];
  readonly addresses: readonly string[];
  /** Values that are secrets, each under a name that says so. */
  readonly credentials: readonly (readonly [name: string, value: string])[];
}

/** What codemode needs to know about one kind of target. A new kind is one file here and a row in `targets.ts`. */
export interface TargetKind<Target> {
  /** Identity of the target, regardless of its credentials: a new token is the same server, another database is not. */
  identityOf(target: Target): readonly unknown[];
  /** Settings whose change makes it another server. Compared as digests; secrets are excluded. */
  settingsOf?(target: Target): Readonly<Record<string, string>>;
  secretPlacesOf(target: Target): SecretPlaces;
  authOf(target: Target): AuthType | undefined;
  /** Where its credential comes from, if not from a login. */
  credentialMethodOf(target: Target): 'environment' | 'header' | 'none';
  /** Whether `codemode auth login` can get a token for it; if not, why. */
  readonly login: 'possible' | { readonly whyNot: string };
}

/** The type of an `Authorization` header, if there is one. */
export function authOfHeaders(headers: Readonly<Record<string, string>>): AuthType | undefined {
  const header = authorizationOf(headers);
  return header === undefined ? undefined : /^bearer /i.test(header) ? 'bearer' : 'header';
}

export function credentialMethodOfHeaders(headers: Readonly<Record<string, string>>): 'header' | 'none' {
  return authorizationOf(headers) === undefined ? 'none' : 'header';
}

export function authorizationOf(headers: Readonly<Record<string, string>>): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization')?.[1];
}
