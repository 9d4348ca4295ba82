import { isTransport, isValidServerName } from '../../config/schema/server-schema.js';
import { HostError } from '../../domain/errors.js';

/** A server as in the configuration, plus its name; or functions of your own. */
export interface MCPServerConfig {
  readonly name: string;
  /** For a server with a `url`; `http` by default. `streamable-http` and `sse` are detected by probing. */
  readonly transport?: 'stdio' | 'http' | 'websocket' | 'streamable-http' | 'sse' | undefined;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly url?: string | undefined;
  /** `${NAME}` is expanded from the environment of this process. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly auth?: AuthConfig | undefined;
  /** Timeout of one call: milliseconds, or a text such as `30s`. */
  readonly timeout?: number | string | undefined;
  readonly retryPolicy?: RetryPolicy | undefined;
  /** Functions of your own, the result of `fromLangChain`, or tools of an adapter. If given, nothing else is read. */
  readonly tools?: unknown;
  // The other keys of an entry in `mcpServers`.
  readonly openapi?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly inheritEnv?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly type?: string | undefined;
  readonly connectTimeout?: number | string | undefined;
  readonly description?: string | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly trusted?: boolean | undefined;
}

/** How the caller is authenticated to the server, as in the configuration. */
export type AuthConfig =
  | { readonly type: 'none' }
  | { readonly type: 'bearer'; readonly token: string }
  | { readonly type: 'basic'; readonly username: string; readonly password: string }
  | {
      readonly type: 'apiKey';
      readonly key: string;
      readonly in?: string | undefined;
      readonly name?: string | undefined;
    }
  | {
      readonly type: 'oauth' | 'oauth2';
      readonly grant?: 'authorization_code' | 'client_credentials' | undefined;
      readonly clientId?: string | undefined;
      readonly clientSecret?: string | undefined;
      readonly issuer?: string | undefined;
      readonly scopes?: readonly string[] | undefined;
      readonly clientMetadataUrl?: string | undefined;
      readonly redirectPort?: number | undefined;
      readonly allowPrivateAddresses?: boolean | undefined;
    };

/** For calls that are safe to retry. */
export interface RetryPolicy {
  /** Total number of attempts; 2 by default. */
  readonly maxAttempts?: number | undefined;
  /** Milliseconds before the second attempt, or a text such as `1s`. */
  readonly delay?: number | string | undefined;
}

export interface ReadServerConfig {
  readonly name: string;
  readonly tools?: unknown;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Reads only what is needed before the configuration's own parser runs. Throws `bad_input`. */
export function readServerConfig(config: unknown): ReadServerConfig {
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw bad('a server is an object with a name and a command, a url or tools');
  const { name, tools, ...given } = config as Record<string, unknown>;
  if (typeof name !== 'string' || !isValidServerName(name))
    throw bad('name: expected the name of the server: 1 to 128 characters, no slash');
  if (tools !== undefined) return { name, tools, settings: {} };
  const settings = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const { transport } = settings;
  if (transport !== undefined && (typeof transport !== 'string' || !isTransport(transport)))
    throw bad(`Unsupported transport: ${String(transport)}; use stdio, http or websocket`);
  const needed =
    transport === undefined || settings['openapi'] !== undefined
      ? undefined
      : transport === 'stdio'
        ? 'command'
        : 'url';
  if (needed !== undefined && settings[needed] === undefined)
    throw bad(`${needed}: is missing, and transport ${transport} needs it`);
  return { name, settings };
}

function bad(problem: string): HostError {
  return new HostError('bad_input', `registerServer: ${problem}`);
}
