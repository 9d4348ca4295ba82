/** How an upstream is shown who calls, where anything is. */
export type AuthType = 'bearer' | 'basic' | 'apiKey' | 'header';

/** The parts of a target that may hold secrets, by how much of each is taken for one. */
export interface SecretPlaces {
  /** Settings by name: every value that could be a secret counts as one. */
  readonly settings: readonly Readonly<Record<string, string>>[];
  /** Words of a command line. Most are no secrets, so a name or a form has to say so. */
  readonly words: readonly string[];
  readonly addresses: readonly string[];
  /** Values that are secrets, with a name that says so. */
  readonly credentials: readonly (readonly [name: string, value: string])[];
}

/** What the program has to know of one kind of target. A new kind is one file here and a row in `targets.ts`. */
export interface TargetKind<Target> {
  /** What the target is, whatever key it is opened with: a new token is no other server, another database is. */
  identityOf(target: Target): readonly unknown[];
  /** Settings that make it another server when they change. Compared as digests, and secrets do not count. */
  settingsOf?(target: Target): Readonly<Record<string, string>>;
  secretPlacesOf(target: Target): SecretPlaces;
  authOf(target: Target): AuthType | undefined;
  /** Where its credential comes from, if not from a login. */
  credentialMethodOf(target: Target): 'environment' | 'header' | 'none';
  /** Whether `codemode auth login` can get a token for it; where not, why. */
  readonly login: 'possible' | { readonly whyNot: string };
}

/** The type of an `Authorization` header, where there is one. */
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
