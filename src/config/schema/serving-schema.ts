import * as z from 'zod';
import { LOG_LEVELS } from '../../domain/log.js';
import { duration, flag, integer, means, size } from './units.js';

/** Loopback: access from other machines must be configured explicitly. */
const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 3000;

/** Compared as a whole with what a browser sends: anything else would never match. */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^\s/]+$/i;
const AN_ORIGIN = 'an origin such as https://app.example.com, with its scheme and without a path';

export const listenerSchema = z.strictObject({
  host: z.string().min(1).default(DEFAULT_HOST).meta(means('Address to listen on.', '0.0.0.0')),
  port: integer(0, 65_535).default(DEFAULT_PORT).meta(means('Port to listen on; 0 takes a free one.', '8080')),
  allowedHosts: z
    .array(z.string())
    .default([])
    .meta(
      means(
        'Names under which clients reach this host, besides the address it listens on. Requests with another `Host` are refused.',
        '[codemode.example.com]',
      ),
    ),
  cors: z
    .strictObject({
      enabled: flag().default(false).meta(means('Whether web pages of `origins` may call.', 'true')),
      origins: z
        .array(z.string().regex(ORIGIN, { error: AN_ORIGIN }))
        .default([])
        .meta(means('Origins of those pages.', '["https://app.example.com"]')),
    })
    .prefault({})
    .meta(means('Requests from web pages.', '{ enabled: true, origins: ["https://app.example.com"] }')),
  maxRequestSize: size({ minBytes: 1024 })
    .default(10 * 1024 * 1024)
    .meta(means('Size of a request body and of a WebSocket message.', '1MB')),
  pingInterval: duration({ minMs: 100, maxMs: 3_600_000 })
    .default(15_000)
    .meta(
      means(
        'How often a WebSocket peer is pinged. A peer that has not answered by the next ping is disconnected.',
        '1m',
      ),
    ),
  answerWithin: duration({ minMs: 1_000, maxMs: 3_600_000 })
    .default(50_000)
    .meta(
      means(
        'The response to a run that takes longer is its id, and the run continues. Most clients give up after 60 s, some earlier.',
        '25s',
      ),
    ),
});

export const catalogSchema = z.strictObject({
  ttl: duration({ minMs: 1_000 })
    .default(600_000)
    .meta(means('An older tool listing is refreshed in the background.', '1h')),
  firstListing: duration({ minMs: 0, maxMs: 300_000 })
    .optional()
    .meta(
      means(
        "How long a client's first tool list waits for servers that are starting. Without it 5 s, and 12 s where tools of servers are listed themselves. Clients give up after 10 to 60 s.",
        '20s',
      ),
    ),
});

export const promptSchema = z.strictObject({
  tokenBudget: integer(500, 1_000_000)
    .optional()
    .meta(
      means(
        'Tokens for servers and tools in the instructions of a session. Without it 500, and 400 for parameters of functions; profile `go` 4,000.',
        '3500',
      ),
    ),
});

/** The part of a response that a model reads. The record of a run has all of it. */
export const responseSchema = z.strictObject({
  toolTrace: z
    .enum(['failures', 'all', 'none'])
    .default('failures')
    .meta(
      means(
        'Profile `codemode` over MCP: which calls a response lists. `failures`: the failed ones of a failed run.',
        'all',
      ),
    ),
  maxTokens: integer(1_000, 1_000_000)
    .default(5_000)
    .meta(
      means(
        'Over MCP: about how many tokens a response may have. Of a larger result the beginning is shown; profile `codemode` keeps it under a handle.',
        '10000',
      ),
    ),
});

export const loggingSchema = z.strictObject({
  level: z.enum(LOG_LEVELS).default('info').meta(means('The least important messages that are logged.', 'debug')),
  format: z.enum(['json', 'text']).default('text').meta(means('Form of a log line.', 'json')),
  outputs: z
    .array(
      z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('console').meta(means('Log to stderr.', 'console')) }),
        z.strictObject({
          type: z.literal('file').meta(means('Log to a file.', 'file')),
          path: z.string().min(1).meta(means('The file.', '/var/log/codemode.log')),
          rotation: z
            .enum(['hourly', 'daily'])
            .optional()
            .meta(means('When a new file is started, besides at `maxSize`.', 'daily')),
          maxSize: size({ minBytes: 1024 }).optional().meta(means('Size at which a new file is started.', '10MB')),
          keep: integer(0, 10_000).default(30).meta(means('How many old files are kept.', '7')),
        }),
      ]),
    )
    .default([{ type: 'console' }])
    .meta(means('Where log lines go.', '[{ type: file, path: /var/log/codemode.log }]')),
});
