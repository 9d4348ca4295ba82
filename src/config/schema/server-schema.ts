import { isAbsolute, resolve } from 'node:path';
import * as z from 'zod';
import { LABELS } from '../../domain/policy.js';
import { authorizationOf } from '../../domain/targets/target-kind.js';
import type { UpstreamTarget } from '../../domain/targets/targets.js';
import type { UpstreamDefinition } from '../../domain/upstream.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { type Environment, pickVariables } from '../variables/environment.js';
import { openApiCredentials, openApiKeys, openApiMistakes, openApiTarget } from './openapi-server.js';
import { duration, flag, integer, means } from './units.js';

/** Long enough for `npx -y`, which downloads a server before it starts. */
const DEFAULT_CONNECT_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 24 * 3_600_000;
const MAX_ID_CHARACTERS = 128;

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** RFC 6749, 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

const auth = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('none').meta(means('No credentials.', 'none')) }),
  z.strictObject({
    type: z.literal('bearer').meta(means('A fixed bearer token.', 'bearer')),
    token: z.string().min(1).meta(means('The token.', '"${ISSUES_TOKEN}"')),
  }),
  z.strictObject({
    type: z.enum(['oauth', 'oauth2']).meta(means('OAuth 2.1, for servers with an http(s) `url`.', 'oauth')),
    grant: z
      .enum(['authorization_code', 'client_credentials'])
      .default('authorization_code')
      .meta(
        means(
          '`authorization_code` needs `codemode auth login`, `client_credentials` needs `clientId` and `clientSecret`.',
          'client_credentials',
        ),
      ),
    clientId: z
      .string()
      .min(1)
      .optional()
      .meta(
        means(
          'Id of a registered client. Without it, codemode registers itself or uses `clientMetadataUrl`.',
          'codemode',
        ),
      ),
    clientSecret: z.string().min(1).optional().meta(means('Secret of that client.', '"${OAUTH_SECRET}"')),
    issuer: z
      .url({ protocol: /^https?$/ })
      .optional()
      .meta(means('The authorization server. Without it, the one that the server names.', 'https://id.example.com')),
    scopes: z
      .array(z.string().regex(SCOPE, { error: 'a scope: printable, without spaces and quotes' }))
      .optional()
      .meta(means('Scopes to ask for. Without it, those that the server names.', '[read, write]')),
    clientMetadataUrl: z
      .url({ protocol: /^https$/, error: 'an address that starts with https:// and has a path' })
      .optional()
      .meta(
        means(
          'Address of a client metadata document that describes you to the authorization server.',
          'https://you.example/client.json',
        ),
      ),
    redirectPort: integer(1, 65_535)
      .optional()
      .meta(means('Port of the address on 127.0.0.1 to which the browser returns. Without it, any free one.', '8765')),
    allowPrivateAddresses: flag()
      .default(false)
      .meta(means('Whether the authorization server may be in your own network.', 'true')),
  }),
  ...openApiCredentials,
]);

const retryPolicy = z.strictObject({
  maxAttempts: integer(1, 10).default(2).meta(means('Attempts of a call that is safe to repeat.', '3')),
  delay: duration({ maxMs: 60_000 })
    .default(200)
    .meta(means('Delay before a further attempt; a server may ask for more with Retry-After.', '1s')),
});

/** One server, with the key names of all common clients: `env` or `environment`, `type`, `transport` or `protocol`. */
const serverSchema = z
  .strictObject({
    command: z.string().min(1).optional().meta(means('A local server: the command that starts it.', 'npx')),
    args: z
      .array(z.string())
      .optional()
      .meta(means('Arguments of the command.', '["-y", "@modelcontextprotocol/server-memory"]')),
    env: z
      .record(z.string(), z.string())
      .optional()
      .meta(
        means(
          'Environment variables of the server. `${NAME}` is replaced by a variable of yours, `${NAME:-default}` has a default.',
          '{ TOKEN: "${GITHUB_TOKEN}" }',
        ),
      ),
    environment: z
      .record(z.string(), z.string())
      .optional()
      .meta(means('Another spelling of `env`.', '{ DEBUG: "1" }')),
    inheritEnv: z
      .array(z.string().regex(VARIABLE_NAME, { error: 'the name of an environment variable, such as GITHUB_TOKEN' }))
      .optional()
      .meta(
        means(
          'Your environment variables that the server gets, by name. It gets no others but the usual ones, such as `PATH` and `HOME`.',
          '[GITHUB_TOKEN]',
        ),
      ),
    cwd: z
      .string()
      .min(1)
      .optional()
      .meta(
        means(
          "Folder in which the server starts. Without it, the folder of codemode, or of a project's file.",
          './server',
        ),
      ),
    url: z
      .string()
      .min(1)
      .optional()
      .meta(means('A remote server: its http(s) or ws(s) address.', 'https://example.com/mcp')),
    ...openApiKeys,
    headers: z
      .record(z.string(), z.string())
      .optional()
      .meta(means('HTTP headers of a remote server.', '{ Authorization: "Bearer ${ISSUES_TOKEN}" }')),
    type: z
      .string()
      .optional()
      .meta(
        means(
          'Transport: `stdio`, `http`, `streamable-http`, `sse` or `websocket`. Without it, `command` or `url` decides.',
          'sse',
        ),
      ),
    transport: z.string().optional().meta(means('Another spelling of `type`.', 'http')),
    protocol: z.string().optional().meta(means('Another spelling of `type`; also `auto`.', 'auto')),
    timeout: duration({ minMs: 1, maxMs: MAX_TIMEOUT_MS })
      .optional()
      .meta(means('Time for one call. Without it, the time of the program.', '20s')),
    connectTimeout: duration({ minMs: 1, maxMs: MAX_TIMEOUT_MS })
      .default(DEFAULT_CONNECT_TIMEOUT_MS)
      .meta(means('Time for the server to start or connect.', '2m')),
    labels: z
      .array(z.enum(LABELS))
      .default([])
      .meta(means('Labels for the flow guard: `private` data, `untrusted` text, an `external` server.', '[private]')),
    description: z.string().optional().meta(means('What the server is for; agents read it.', 'Our issue tracker')),
    trusted: flag()
      .default(false)
      .meta(means('Whether the claims of its tools about themselves are believed.', 'true')),
    enabled: flag().default(true).meta(means('Whether the server is used.', 'false')),
    disabled: flag().optional().meta(means('The opposite of `enabled`, as some clients write it.', 'true')),
    auth: auth.optional().meta(means('How codemode proves who it is to this server.', '{ type: oauth }')),
    retryPolicy: retryPolicy
      .prefault({})
      .meta(means('Retries of calls that are safe to repeat.', '{ maxAttempts: 3 }')),
  })
  .superRefine((server, context) => {
    const complain = (path: string[], message: string) =>
      context.issues.push({ code: 'custom', message, path, input: undefined });
    openApiMistakes(server, complain);
    if (server.inheritEnv !== undefined && server.command === undefined)
      complain(['inheritEnv'], 'no such key: only a server with a command has a process to give variables to');
    if (server.openapi !== undefined) return;
    if (server.command === undefined && server.url === undefined)
      complain([], 'command (a local server), url (a remote one) or openapi (an HTTP API)');
    if (server.command !== undefined && server.url !== undefined) complain(['url'], 'either command or url, not both');
    if (server.env !== undefined && server.environment !== undefined)
      complain(['environment'], 'env or environment, not both');
    if (server.url !== undefined && !/^(https?|wss?):$/.test(protocolOf(server.url))) {
      complain(['url'], 'an address that starts with http://, https://, ws:// or wss://');
    }
    if (server.auth?.type === 'oauth' || server.auth?.type === 'oauth2') {
      const { grant, clientId, clientSecret } = server.auth;
      if (!/^https?:$/.test(protocolOf(server.url ?? ''))) complain(['auth'], 'oauth for a server with an http(s) url');
      if (authorizationOf(server.headers ?? {}) !== undefined)
        complain(['auth'], 'either oauth or an Authorization header, not both');
      if (grant === 'client_credentials' && (clientId === undefined || clientSecret === undefined))
        complain(['auth'], 'clientId and clientSecret, which grant client_credentials needs');
      if (clientSecret !== undefined && clientId === undefined)
        complain(['auth'], 'clientId, which clientSecret needs');
    }
    const named = transportNamed(server);
    const key = ['transport', 'type'].find((each) => server[each as 'type'] !== undefined) ?? 'protocol';
    if (named !== undefined && transportKind(named) === undefined) {
      complain([key], 'one of stdio, http, streamable-http, sse, websocket');
    } else if (named !== undefined && server.command !== undefined && transportKind(named) !== 'stdio') {
      complain([key], 'stdio, because this server has a command');
    } else if (named !== undefined && server.url !== undefined && transportKind(named) === 'stdio') {
      complain([key], 'a transport for an url: http, streamable-http, sse or websocket');
    }
  });

type ServerEntry = z.output<typeof serverSchema>;

const serverId = z
  .string()
  .min(1)
  .max(MAX_ID_CHARACTERS)
  .regex(/^[^\p{C}/]+$/u, { error: 'a name without slashes and control characters' });

export function isValidServerName(name: string): boolean {
  return serverId.safeParse(name).success;
}

export function isTransport(name: string): boolean {
  return transportKind(name) !== undefined;
}

/** Servers by name. The list form is converted to this one before it is checked: see `server-map.ts`. */
export const serverMapSchema = z.record(serverId, serverSchema);
export type ServerMap = z.output<typeof serverMapSchema>;

/** Reserves the name of a server whose entry cannot be used. */
export function disabledEntry(): ServerEntry {
  const { command: _, ...entry } = serverSchema.parse({ command: 'none', enabled: false });
  return entry;
}

export interface ServerFolders {
  /** The base of relative folders in the configuration. */
  readonly base: string;
  /** The folder in which servers without `cwd` start. If absent, the folder in which codemode was started. */
  readonly start?: string;
}

/**
 * The configured servers in the form that the rest of the program uses. Relative folders are relative to `folders.base`. The
 * variables in `inheritEnv` are taken from `environment`.
 */
export function upstreamDefinitions(
  servers: ServerMap,
  folders: ServerFolders,
  environment: Environment,
): UpstreamDefinition[] {
  return Object.entries(servers)
    .filter(([, server]) => server.enabled && server.disabled !== true)
    .map(([id, server]) => ({
      id,
      target: targetOf(server, folders, environment),
      connectTimeoutMs: server.connectTimeout,
      ...omitUndefined({ callTimeoutMs: server.timeout }),
      labels: server.labels,
      isTrusted: server.trusted,
      retry: { maxAttempts: server.retryPolicy.maxAttempts, delayMs: server.retryPolicy.delay },
      ...omitUndefined({ description: server.description }),
      ...oauthOf(server),
    }));
}

function oauthOf({ auth: settings }: ServerEntry): Pick<UpstreamDefinition, 'oauth'> {
  if (settings?.type !== 'oauth' && settings?.type !== 'oauth2') return {};
  const { type: _, ...oauth } = settings;
  return { oauth: withoutUndefined(oauth) as NonNullable<UpstreamDefinition['oauth']> };
}

function withoutUndefined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));
}

function targetOf(server: ServerEntry, folders: ServerFolders, environment: Environment): UpstreamTarget {
  if (server.openapi !== undefined) return openApiTarget(server, folders.base);
  if (server.command !== undefined) {
    return {
      kind: 'stdio',
      command: server.command,
      arguments: server.args ?? [],
      environment: server.env ?? server.environment ?? {},
      ...omitUndefined({
        inherited: ifDefined(server.inheritEnv, (inheritEnv) => pickVariables(environment, inheritEnv)),
      }),
      ...cwdOf(server.cwd, folders),
    };
  }
  const url = server.url ?? '';
  const bearer = server.auth?.type === 'bearer' ? { Authorization: `Bearer ${server.auth.token}` } : {};
  const headers = { ...bearer, ...server.headers };
  if (/^wss?:$/.test(protocolOf(url)) || transportKind(transportNamed(server) ?? '') === 'websocket') {
    return { kind: 'websocket', url: url.replace(/^http/, 'ws'), headers };
  }
  const named = transportKind(transportNamed(server) ?? '');
  return { kind: 'http', url, headers, flavour: named === 'sse' || named === 'streamable' ? named : 'auto' };
}

function cwdOf(cwd: string | undefined, { base, start }: ServerFolders): { readonly cwd?: string } {
  if (cwd === undefined) return omitUndefined({ cwd: start });
  return { cwd: isAbsolute(cwd) ? cwd : resolve(base, cwd) };
}

/** `auto` decides by the entry: a command or an address. */
function transportNamed({ transport, type, protocol }: Pick<ServerEntry, 'transport' | 'type' | 'protocol'>) {
  return transport ?? type ?? (protocol === 'auto' ? undefined : protocol);
}

function transportKind(name: string): 'stdio' | 'http' | 'streamable' | 'sse' | 'websocket' | undefined {
  switch (name.toLowerCase().replace(/[-_ ]/g, '')) {
    case 'stdio':
      return 'stdio';
    case 'http':
      return 'http';
    case 'streamablehttp':
      return 'streamable';
    case 'sse':
      return 'sse';
    case 'websocket':
    case 'ws':
      return 'websocket';
    default:
      return undefined;
  }
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : '';
}
