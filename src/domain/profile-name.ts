/** The contracts that codemode implements. */
export const PROFILE_NAMES = ['codemode', 'unified', 'code_execution', 'runner', 'go'] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];

/** What a contract needs from the other parts. They check these properties, never the name of a contract. */
export interface ProfileNeeds {
  /** What runs its programs: workers, the machine's interpreters, or its Go toolchain. */
  readonly runtime: 'quickjs' | 'interpreters' | 'go';
  /**
   * How a program is written: an ES module, the body of a function that sees a namespace for each server, a classic script
   * whose calls block its worker, or a file for its own process.
   */
  readonly program: 'module' | 'body' | 'script' | 'file';
  /** Its own REST routes, in addition to those of every host. */
  readonly restRoutes?: 'runner';
  /** Its users may have the configuration file that mcpproxy keeps in the home folder. */
  readonly takesProxyFile?: true;
}

const NEEDS: Readonly<Record<ProfileName, ProfileNeeds>> = {
  codemode: { runtime: 'quickjs', program: 'module' },
  unified: { runtime: 'quickjs', program: 'body' },
  code_execution: { runtime: 'quickjs', program: 'script', takesProxyFile: true },
  runner: { runtime: 'interpreters', program: 'file', restRoutes: 'runner' },
  go: { runtime: 'go', program: 'file' },
};

/** The needs of a contract. Sessions without a contract run modules. */
export function needsOf(profile: string): ProfileNeeds {
  return isProfileName(profile) ? NEEDS[profile] : NEEDS.codemode;
}

export function isProfileName(name: string): name is ProfileName {
  return (PROFILE_NAMES as readonly string[]).includes(name);
}
