import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SAFE_HEADERS } from './page-headers.js';

interface PageFile {
  readonly bytes: Buffer;
  readonly type: string;
  readonly etag: string;
  /** Its name contains a digest of its content, so it never changes. */
  readonly isImmutable: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};
const MAX_FILES = 500;
const START = 'index.html';
const NOT_BUILT = 'The files of the console are missing here. Build them: npm run build.\n';

/**
 * Serves the files of the page under their exact names. They are listed and read once, so no request path ever reaches the file
 * system. Returns the digest of all files.
 */
export function mountPageFiles(app: FastifyInstance, folder: string): string {
  const files = readFiles(folder);
  const config = { isPublic: true };
  const start = withIntegrity(files.get(START), files);
  app.get('/', { config }, (request, reply) => {
    if (start !== undefined) return send(request, reply, start);
    return reply.code(503).headers(SAFE_HEADERS).type('text/plain; charset=utf-8').send(NOT_BUILT);
  });
  for (const [name, file] of files) {
    if (name !== START) app.get(`/${name}`, { config }, (request, reply) => send(request, reply, file));
  }
  return hash('sha256', [...files].map(([name, { etag }]) => `${name} ${etag}\n`).join(''), 'hex').slice(0, 16);
}

/**
 * The start page with an integrity digest for every file that it loads, now or later. A browser may have cached files with these
 * names from another program on the same port: the digests keep them from running.
 */
function withIntegrity(start: PageFile | undefined, files: ReadonlyMap<string, PageFile>): PageFile | undefined {
  if (start === undefined) return undefined;
  const digestOf = (name: string) => `sha384-${hash('sha384', files.get(name)?.bytes ?? '', 'base64')}`;
  const html = start.bytes.toString('utf8');
  const named = html.replace(/(?:src|href)="\.\/(assets\/[\w.-]+\.(?:js|css))"/g, (text, name: string) =>
    files.has(name) ? `${text} integrity="${digestOf(name)}"` : text,
  );
  const later = [...files.keys()].filter((name) => name.endsWith('.js') && !html.includes(name));
  const preloads = later.map(
    (name) => `<link rel="modulepreload" crossorigin href="./${name}" integrity="${digestOf(name)}">`,
  );
  const bytes = Buffer.from(named.replace('</head>', `  ${preloads.join('\n    ')}\n  </head>`));
  return { ...start, bytes, etag: `"${hash('sha256', bytes, 'hex').slice(0, 32)}"` };
}

function send(request: FastifyRequest, reply: FastifyReply, file: PageFile): FastifyReply {
  const { bytes, type, etag, isImmutable } = file;
  void reply
    .headers(SAFE_HEADERS)
    .header('cache-control', isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache')
    .header('etag', etag);
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  return reply.type(type).send(bytes);
}

function readFiles(folder: string): Map<string, PageFile> {
  const files = new Map<string, PageFile>();
  let names: string[];
  try {
    names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    return files;
  }
  for (const name of names.sort().slice(0, MAX_FILES)) {
    const type = TYPES[extname(name)];
    // Our own file names need no URL escapes.
    if (type === undefined || !/^[\w./-]+$/.test(name.split(sep).join('/'))) continue;
    const bytes = readFileSync(join(folder, name));
    const etag = `"${hash('sha256', bytes, 'hex').slice(0, 32)}"`;
    files.set(name.split(sep).join('/'), { bytes, type, etag, isImmutable: /-[\w-]{8,}\.\w+$/.test(name) });
  }
  return files;
}
