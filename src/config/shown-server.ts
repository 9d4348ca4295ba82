import type { JsonObject } from '../domain/json.js';
import { MASK } from '../lib/mask.js';
import { shellWord } from '../lib/shell-word.js';
import { replaceSecrets } from './secret-references.js';
import { isObject } from './shape.js';

/** What a person has to see of a server before they agree to it: everything that is done, and no secret. */
export interface ShownServer {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly url?: string;
  readonly cwd?: string;
  /** Names only. */
  readonly env: readonly string[];
  readonly inheritEnv?: readonly string[];
  readonly headers: readonly string[];
}

/**
 * A stranger's file may call anything a token to have it masked, so only what can be nothing else is: a command that
 * a shell would take apart is shown whole.
 */
const COMMAND_LIKE = /[\s;&|<>()$`"'\\]/;

export function shownServer(server: JsonObject): ShownServer {
  const masked = replaceSecrets(server, (secret) => (COMMAND_LIKE.test(secret) ? secret : MASK));
  const { command, args, url, cwd, inheritEnv } = masked;
  const environment = server.env ?? server.environment;
  return {
    ...(typeof command === 'string' ? { command } : {}),
    ...(Array.isArray(args) ? { args: args.map(String) } : {}),
    ...(typeof url === 'string' ? { url } : {}),
    ...(typeof cwd === 'string' ? { cwd } : {}),
    env: isObject(environment) ? Object.keys(environment) : [],
    ...(Array.isArray(inheritEnv) ? { inheritEnv: inheritEnv.map(String) } : {}),
    headers: isObject(server.headers) ? Object.keys(server.headers) : [],
  };
}

/** The same as lines of text, the command line or the address first. Not cleaned for a terminal. */
export function describeServer(server: JsonObject): string[] {
  const { command, args = [], url, cwd, env, inheritEnv = [], headers } = shownServer(server);
  const names = (label: string, list: readonly string[]) => (list.length === 0 ? [] : [`${label}: ${list.join(', ')}`]);
  const details = [
    ...names('env', env),
    ...names('passed on', inheritEnv),
    ...names('headers', headers),
    ...(cwd === undefined ? [] : [`in ${cwd}`]),
  ];
  return [
    command === undefined ? (url ?? '') : [command, ...args].map(shellWord).join(' '),
    ...(details.length === 0 ? [] : [details.join('; ')]),
  ];
}
