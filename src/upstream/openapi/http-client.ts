import { Agent, fetch as undiciFetch } from 'undici';
import { addressKind, isIpLiteral } from '../../lib/network-address.js';
import { guardedLookup } from '../guarded-lookup.js';

export interface HttpRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body?: RequestInit['body'];
  readonly signal: AbortSignal;
  readonly maxBytes: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The redirect target. */
  readonly location?: string;
  readonly body: Uint8Array;
}

/** The document may not lead to this address. */
export class AddressRefused extends Error {}

/** The response exceeds the size limit. */
export class AnswerTooLong extends Error {}

const MAX_CONNECTIONS = 64;

/**
 * Sends the requests of one API and reads each whole response, bounded in size. Redirects are not followed here.
 *
 * `isPublicOnly`: if the document and not the user chose the address, only public addresses are reached, whatever a name resolves
 * to. Exactly the checked address is connected to.
 */
export class HttpClient {
  readonly #agent: Agent;
  readonly #isPublicOnly: boolean;

  constructor({
    isPublicOnly,
    connectTimeoutMs,
  }: { readonly isPublicOnly: boolean; readonly connectTimeoutMs: number }) {
    this.#isPublicOnly = isPublicOnly;
    const lookup = isPublicOnly ? { lookup: guardedLookup(checkPublic) } : {};
    this.#agent = new Agent({
      connections: MAX_CONNECTIONS,
      connect: { timeout: connectTimeoutMs, ...lookup },
      // Each request is bounded by its signal. An API may take minutes.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async send({ url, method, headers, body, signal, maxBytes }: HttpRequest): Promise<HttpAnswer> {
    if (this.#isPublicOnly && isIpLiteral(url.hostname)) checkPublic(url.hostname, url.hostname);
    const answer = await undiciFetch(url, {
      method,
      headers: [...headers],
      redirect: 'manual',
      signal,
      dispatcher: this.#agent,
      ...(body === undefined || body === null ? {} : { body: body as never }),
    });
    const location = answer.status >= 300 && answer.status <= 399 ? answer.headers.get('location') : null;
    return {
      status: answer.status,
      headers: answer.headers as unknown as Headers,
      ...(location === null ? {} : { location }),
      body: await readWhole(answer.body as AsyncIterable<Uint8Array> | null, maxBytes),
    };
  }

  async close(requests: 'end' | 'finish' = 'end'): Promise<void> {
    await (requests === 'end' ? this.#agent.destroy() : this.#agent.close());
  }
}

/** Counts decompressed bytes: a few kilobytes may expand to gigabytes. */
async function readWhole(body: AsyncIterable<Uint8Array> | null, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new AnswerTooLong(`the answer has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function checkPublic(hostname: string, address: string): void {
  if (addressKind(address) === 'public') return;
  throw new AddressRefused(
    `the document sends calls to ${hostname}, which is not a public address; set baseUrl if that is intended`,
  );
}
