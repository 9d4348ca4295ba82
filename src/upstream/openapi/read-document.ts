import { parseDocument } from 'yaml';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { OpenApiTarget } from '../../domain/targets/openapi.js';
import { readRegularFile, UnreadableFile } from '../../lib/files/read-regular-file.js';
import { oneLine } from '../../lib/text/bounded-text.js';
import { excessOf } from '../../lib/text/json-excess.js';
import { isAddress } from './base-url.js';
import { presetHeaders } from './credentials.js';
import type { HttpClient } from './http-client.js';

/** For comparison: GitHub's has 12 MB. */
export const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;
/** YAML is parsed at about a tenth of the speed of JSON, and blocks the event loop. */
const MAX_YAML_BYTES = 12 * 1024 * 1024;
/** Aliases can multiply: `&a [*b,*b]` nine levels deep expands to gigabytes. */
const MAX_ALIASES = 1_000;
const MAX_REDIRECTS = 3;

/** The text of the document, not parsed. */
export function readDocumentText(target: OpenApiTarget, client: HttpClient, signal: AbortSignal): Promise<string> {
  return isAddress(target.document) ? fetchText(target, client, signal) : readText(target.document);
}

/** The document of an API, unchanged. It is untrusted, and may be cyclic because of YAML aliases. */
export function parseApiDocument(text: string): JsonObject {
  const document = parse(text);
  if (!isJsonObject(document))
    throw new Error('it is not an OpenAPI document: expected a map with openapi, info and paths');
  const { openapi, swagger } = document;
  if (typeof openapi === 'string' && /^3\.[012](\.|$)/.test(openapi)) return document;
  const found =
    typeof openapi === 'string' ? openapi : typeof swagger === 'string' ? `Swagger ${swagger}` : 'no version';
  throw new Error(`it is not an OpenAPI 3.0 or 3.1 document (found ${oneLine(found, 40)}); convert it first`);
}

async function readText(file: string): Promise<string> {
  try {
    return (await readRegularFile(file, MAX_DOCUMENT_BYTES)).toString('utf8');
  } catch (error) {
    if (error instanceof UnreadableFile)
      throw error.why === 'too_large' ? tooLong() : new Error(`${file} is not an ordinary file`);
    const { code } = error as NodeJS.ErrnoException;
    throw code === undefined ? error : new Error(`${file} cannot be read (${code})`);
  }
}

/**
 * The user's credentials for the API are sent to the document's address only if that is the API itself, or if no other address is
 * set. Redirects stay within the origin that the user set.
 */
async function fetchText(target: OpenApiTarget, client: HttpClient, signal: AbortSignal): Promise<string> {
  let url = new URL(target.document);
  const isApi = target.baseUrl === undefined || new URL(target.baseUrl).origin === url.origin;
  const headers = new Headers(isApi ? presetHeaders(target) : {});
  headers.set('accept', 'application/json, application/yaml, text/yaml, */*;q=0.5');
  for (let hops = 0; ; hops += 1) {
    const answer = await client.send({ url, method: 'GET', headers, signal, maxBytes: MAX_DOCUMENT_BYTES });
    const { location } = answer;
    if (location === undefined) {
      if (answer.status !== 200) throw new Error(`its document could not be fetched: HTTP ${answer.status}`);
      return new TextDecoder().decode(answer.body);
    }
    const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    if (next?.origin !== url.origin || hops === MAX_REDIRECTS)
      throw new Error(`${url.origin} redirects elsewhere for the document; set openapi to where it really is`);
    url = next;
  }
}

function parse(text: string): JsonValue {
  const plain = text.replace(/^\uFEFF/, '');
  if (/^\s*\{/.test(plain)) {
    const excess = excessOf(plain);
    if (excess !== undefined) throw new Error(`it has ${excess}`);
    try {
      return JSON.parse(plain) as JsonValue;
    } catch {
      // YAML may also begin with a brace.
    }
  }
  if (plain.length > MAX_YAML_BYTES)
    throw new Error(`it has more than ${MAX_YAML_BYTES} bytes of YAML; convert it to JSON, which is read faster`);
  // No check for duplicate keys: it takes quadratic time.
  const document = parseDocument(plain, { version: '1.2', schema: 'core', uniqueKeys: false, prettyErrors: false });
  const [mistake] = document.errors;
  if (mistake !== undefined) throw new Error(`it is neither JSON nor YAML: ${oneLine(mistake.message, 200)}`);
  return document.toJS({ maxAliasCount: MAX_ALIASES }) as JsonValue;
}

function tooLong(): Error {
  return new Error(`its document has more than ${MAX_DOCUMENT_BYTES} bytes`);
}
