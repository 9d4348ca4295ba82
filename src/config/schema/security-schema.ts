import * as z from 'zod';
import { KEYRING_CHOICES } from '../../domain/key.js';
import { AGENT_SCOPES, SCOPES } from '../../domain/principal.js';
import { duration, flag, integer, means, size } from './units.js';

/** Only the digest is configured: `printf %s TOKEN | sha256sum`. */
const listedToken = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(128)
    .meta(means('The token is the caller `subject token NAME`, on every surface and in every session.', 'ci')),
  sha256: z
    .string()
    .regex(/^[\da-f]{64}$/i, { error: 'the SHA-256 of the token, 64 hexadecimal digits' })
    .meta(means('Digest of the token: `printf %s TOKEN | sha256sum`.', '"9f86d081884c7d65…"')),
  scopes: z
    .array(z.enum(SCOPES))
    .default([...AGENT_SCOPES])
    .refine((scopes) => !(scopes.includes('execute') && scopes.includes('approve')), {
      error: 'execute or approve, not both: a token that runs code must not decide about calls',
    })
    .meta(means('What the token may do. `execute` and `approve` cannot be combined.', '[approve]')),
  capabilities: z
    .union([z.array(z.string()), z.record(z.string(), z.unknown())])
    .optional()
    .meta(
      means(
        'The most that programs of this token may reach, in the form of a request. Without it, what `security.capabilities` grants.',
        '["mcp:weather"]',
      ),
    ),
  person: flag()
    .default(false)
    .meta(
      means(
        'A person uses the clients of this token: approval forms and questions of servers go there over `/mcp`.',
        'true',
      ),
    ),
});

const auth = z
  .strictObject({
    provider: z
      .enum(['token', 'oauth2', 'none'])
      .default('token')
      .meta(
        means(
          'How callers prove who they are. `token`: the token that `codemode token` prints, and those in `tokens`. `oauth2`: JWTs of `issuer`. `none`: only on loopback.',
          'oauth2',
        ),
      ),
    issuer: z
      .url({ protocol: /^https?$/ })
      .optional()
      .meta(
        means('The authorization server whose tokens are accepted. Required with `oauth2`.', 'https://id.example.com'),
      ),
    audience: z
      .string()
      .min(1)
      .optional()
      .meta(means('What `aud` of a token must name. Required with `oauth2`.', 'https://codemode.example.com')),
    tokens: z
      .array(listedToken)
      .default([])
      .meta(means('Further tokens, each a caller.', '[{ name: ci, sha256: "9f86d081884c7d65…" }]')),
  })
  .superRefine(({ provider, issuer, audience }, context) => {
    if (provider !== 'oauth2') return;
    for (const [key, value] of Object.entries({ issuer, audience }))
      if (value === undefined)
        context.issues.push({ code: 'custom', path: [key], input: undefined, message: `${key}, which oauth2 needs` });
  });

const network = z.strictObject({
  maxRequestsPerSecond: integer(1, 1e6)
    .optional()
    .meta(means('Requests per second of all runs of one token. Without it 10.', '2')),
  maxRequestSize: size().optional().meta(means('Size of one request and of one response. Without it 1 MiB.', '1MB')),
  allowedHosts: z
    .array(z.string())
    .default([])
    .meta(means('Hosts that programs may fetch from, with `*` for any characters.', '["api.example.com"]')),
  allowedPorts: z
    .array(integer(1, 65_535))
    .optional()
    .meta(means('Ports that programs may connect to. Without it 443.', '[443, 8443]')),
  timeoutPerRequest: duration({ minMs: 1, maxMs: 600_000 })
    .optional()
    .meta(means('Time for one request. Without it 5 s.', '2s')),
});

const filesystem = z.strictObject({
  allowedPaths: z.array(z.string()).default([]).meta(means('Folders that programs may read below.', '[/data/reports]')),
  readOnly: flag()
    .default(true)
    .meta(means('Whether files can only be read. Writing asks a person by default.', 'false')),
  maxFileSize: size().optional().meta(means('Size of one file. Without it 1 MiB.', '10MB')),
  allowedExtensions: z
    .array(z.string())
    .optional()
    .meta(means('Extensions of files, `.json` or `json`. Without it, all.', '[json, csv]')),
});

const mcp = z.strictObject({
  maxCallsPerSecond: integer(1, 1e6)
    .optional()
    .meta(means('Calls per second of all runs of one token. Without it 5.', '20')),
  allowedServers: z
    .array(z.string())
    .optional()
    .meta(means('Servers that requests may ask for, with `*` for any characters. Without it, all.', '[weather]')),
  allowedTools: z
    .array(z.string())
    .optional()
    .meta(
      means(
        'Tools that requests may ask for: `server/tool`, the id `server.tool`, or `tool` of any granted server. Without it, all.',
        '["weather/forecast"]',
      ),
    ),
  maxConcurrentCalls: integer(1, 1_000)
    .optional()
    .meta(means('Calls of one run in flight; further ones wait. Without it 3.', '8')),
  timeoutPerCall: duration({ minMs: 1, maxMs: 86_400_000 })
    .optional()
    .meta(means('Time for one call, for servers without a `timeout`, in runs with a grant. Without it 10 s.', '30s')),
});

export const securitySchema = z.strictObject({
  keyring: z
    .enum(KEYRING_CHOICES)
    .default('auto')
    .meta(
      means(
        'Where a new key of the state folder is kept. `auto`: the keyring if one is unlocked, otherwise a file. `required`: the keyring, or the program stops.',
        'file',
      ),
    ),
  keyFile: z
    .string()
    .min(1)
    .optional()
    .meta(
      means(
        'A file with the key that hosts with a shared `store` seal everything with, 32 bytes in base64. `CODEMODE_KEY` comes before it.',
        '/run/secrets/codemode-key',
      ),
    ),
  auth: auth.prefault({}).meta(means('Who may use `codemode serve`.', '{ provider: token }')),
  capabilities: z
    .strictObject({
      network: network
        .optional()
        .meta(means('Requests of programs to the network. Without it, none.', '{ allowedHosts: [api.example.com] }')),
      filesystem: filesystem
        .optional()
        .meta(means('Files for programs. Without it, none.', '{ allowedPaths: [/data/reports] }')),
      mcp: mcp.optional().meta(means('Tool calls of runs with a grant.', '{ allowedServers: [weather] }')),
    })
    .prefault({})
    .meta(means('Profile `unified`: the most that a request may ask for.', '{ mcp: { allowedServers: [weather] } }')),
});
