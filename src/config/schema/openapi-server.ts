import { isAbsolute, resolve } from 'node:path';
import * as z from 'zod';
import type { ApiCredential, OpenApiTarget } from '../../domain/targets/openapi.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { means } from './units.js';

/** The keys of a server that is an HTTP API, besides those that every server has. */
export const openApiKeys = {
  openapi: z
    .string()
    .min(1)
    .optional()
    .meta(
      means('An HTTP API: its OpenAPI document, a file or an http(s) address.', 'https://api.example.com/openapi.json'),
    ),
  baseUrl: z
    .string()
    .min(1)
    .optional()
    .meta(
      means(
        'Where calls to that API go. Required in most cases: see the guide to OpenAPI.',
        'https://api.example.com/v1',
      ),
    ),
};

/** Ways to authenticate that only these servers have. */
export const openApiCredentials = [
  z.strictObject({
    type: z.literal('basic').meta(means('HTTP basic authentication, for servers with `openapi`.', 'basic')),
    username: z.string().meta(means('The user name.', 'ann')),
    password: z.string().min(1).meta(means('The password.', '"${API_PASSWORD}"')),
  }),
  z
    .strictObject({
      type: z.literal('apiKey').meta(means('A key, for servers with `openapi`.', 'apiKey')),
      key: z.string().min(1).meta(means('The key.', '"${API_KEY}"')),
      in: z
        .enum(['header', 'query', 'cookie'])
        .optional()
        .meta(means('Where the key goes, together with `name`. Without both, where the document says.', 'header')),
      name: z.string().min(1).optional().meta(means('Name of the header, parameter or cookie.', 'X-API-Key')),
    })
    .refine((auth) => (auth.in === undefined) === (auth.name === undefined), {
      error: 'in and name together, or neither where the document says where the key goes',
    }),
] as const;

/** The part of a server's entry that is checked here. */
export interface OpenApiEntry {
  readonly openapi?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly auth?: { readonly type: string } | undefined;
  readonly [key: string]: unknown;
}

/** Keys of servers that are started or that speak MCP. */
const NOT_FOR_APIS = ['command', 'args', 'env', 'environment', 'cwd', 'url', 'type', 'transport'] as const;

export function openApiMistakes(server: OpenApiEntry, complain: (path: string[], message: string) => void): void {
  const { openapi, baseUrl, auth, headers = {} } = server;
  if (openapi === undefined) {
    if (baseUrl !== undefined)
      complain(['baseUrl'], 'openapi, which baseUrl needs: a file or address of an OpenAPI document');
    if (auth?.type === 'basic' || auth?.type === 'apiKey')
      complain(['auth', 'type'], `bearer, oauth2 or none; ${auth.type} is for servers with openapi`);
    return;
  }
  for (const key of NOT_FOR_APIS) if (server[key] !== undefined) complain([key], `either openapi or ${key}, not both`);
  if (auth?.type === 'oauth' || auth?.type === 'oauth2')
    complain(['auth', 'type'], 'bearer, basic, apiKey or none, for a server with openapi');
  if (isAddress(openapi) && !isPlainAddress(openapi, true))
    complain(['openapi'], 'a file, or an address that starts with http:// or https://, without a name or password');
  if (baseUrl !== undefined && !isPlainAddress(baseUrl, false))
    complain(['baseUrl'], 'an address that starts with http:// or https://, without a name, a password, ? or #');
  // A document is untrusted text: it must not decide who gets the user's credentials.
  const hasCredentials = (auth !== undefined && auth.type !== 'none') || Object.keys(headers).length > 0;
  if (hasCredentials && baseUrl === undefined && !isAddress(openapi))
    complain([], 'baseUrl, because headers and auth go only to an address that you set');
}

export function openApiTarget(server: OpenApiEntry, baseFolder: string): OpenApiTarget {
  const { openapi = '', baseUrl, headers = {}, auth } = server;
  return {
    kind: 'openapi',
    document: isAddress(openapi) || isAbsolute(openapi) ? openapi : resolve(baseFolder, openapi),
    headers,
    ...omitUndefined({ baseUrl }),
    ...(auth === undefined || auth.type === 'none' ? {} : { auth: auth as ApiCredential }),
  };
}

function isAddress(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

function isPlainAddress(text: string, mayHaveQuery: boolean): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username + password + hash === '' && (mayHaveQuery || search === '');
}
