import type { TargetKind } from './target-kind.js';

/** A process on this machine that speaks MCP over its stdin and stdout. */
export interface StdioTarget {
  readonly kind: 'stdio';
  readonly command: string;
  readonly arguments: readonly string[];
  /** The user's variables for this server, added to the few that every child inherits. */
  readonly environment: Readonly<Record<string, string>>;
  /** Variables of our own environment that this server inherits as well (`inheritEnv`), with their current values. */
  readonly inherited?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export const STDIO: TargetKind<StdioTarget> = {
  identityOf: ({ command, arguments: words, cwd }) => [command, words, cwd],
  settingsOf: ({ environment }) => environment,
  secretPlacesOf: ({ environment, inherited = {}, arguments: words }) => ({
    settings: [environment, inherited],
    words,
    addresses: [],
    credentials: [],
  }),
  authOf: () => undefined,
  credentialMethodOf: () => 'environment',
  login: { whyNot: 'it runs on this machine and gets its secrets from its environment: set env of that server' },
};
