import type { JsonObject, JsonValue } from '../../domain/json.js';
import { MASK } from '../../lib/secrets/mask.js';
import { shellWord } from '../../lib/text/shell-word.js';
import { isObject } from '../schema/server-map.js';
import { replaceSecrets } from '../variables/secret-references.js';

/** What a person must see of a server before agreeing to it: everything it does, and no secret. */
export interface ShownServer {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly url?: string;
  readonly cwd?: string;
  /** Names only. */
  readonly env: readonly string[];
  readonly inheritEnv?: readonly string[];
  readonly headers: readonly string[];
  /** The values too, for an untrusted server: they can be options that run code, and they are not the user's secrets. */
  readonly envValues?: JsonObject;
  readonly headerValues?: JsonObject;
}

/** The author of the entry. A project's entry is shown whole: calling something a token must not hide it. */
export type Owner = 'user' | 'project';

/**
 * An untrusted file may call anything a token to have it masked. So only an unmistakable secret is masked: text with shell syntax
 * is shown whole.
 */
const COMMAND_LIKE = /[\s;&|<>()$`"'\\]/;

export function shownServer(server: JsonObject, owner: Owner = 'user'): ShownServer {
  const isStrangers = owner === 'project';
  const masked = isStrangers ? server : replaceSecrets(server, (secret) => (COMMAND_LIKE.test(secret) ? secret : MASK));
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
    ...(isStrangers && isObject(environment) ? { envValues: environment } : {}),
    ...(isStrangers && isObject(server.headers) ? { headerValues: server.headers } : {}),
  };
}

/** The same as lines of text, the command line or the address first. Not escaped for a terminal. */
export function describeServer(server: JsonObject, owner: Owner = 'user'): string[] {
  const shown = shownServer(server, owner);
  const { command, args = [], url, cwd, inheritEnv = [], envValues, headerValues } = shown;
  const names = (label: string, list: readonly string[]) => (list.length === 0 ? [] : [`${label}: ${list.join(', ')}`]);
  const details = [
    ...(envValues === undefined ? names('env', shown.env) : []),
    ...names('passed on', inheritEnv),
    ...(headerValues === undefined ? names('headers', shown.headers) : []),
    ...(cwd === undefined ? [] : [`in ${cwd}`]),
  ];
  return [
    command === undefined ? (url ?? '') : [command, ...args].map(shellWord).join(' '),
    ...Object.entries(envValues ?? {}).map(([name, value]) => `env ${shellWord(name)}=${shellWord(textOf(value))}`),
    ...Object.entries(headerValues ?? {}).map(([name, value]) => `header ${name}: ${textOf(value)}`),
    ...(details.length === 0 ? [] : [details.join('; ')]),
  ];
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
