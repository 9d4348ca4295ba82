import type { NetworkCapability } from '../../domain/capability.js';
import type { JsonObject } from '../../domain/json.js';
import { coversHost } from '../../lib/host-and-path-match.js';
import { addressKind } from '../../lib/network-address.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { guardedLookup } from '../guarded-lookup.js';
import type { NativeCallContext, NativeTool } from '../native/native-upstream.js';

/** The server under which programs reach the network. A user's server cannot have a slash in its name. */
export const NETWORK_SERVER = 'codemode/network';

const MAX_REDIRECTS = 5;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** Headers that belong to the connection. */
const NOT_THE_PROGRAMS =
  /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|expect|proxy-.*|keep-alive)$/i;
/** Not sent to the target of a redirect. */
const CREDENTIALS = /^(authorization|cookie|x-api-key|proxy-authorization)$/i;

interface WebRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * One request to a host that the run was granted. The jail has no network: this is a call like any other, made outside.
 *
 * - The host and port of every hop must be granted. An address of this machine or of a private network is only reached if that very
 *   address was granted, whatever a name resolves to.
 * - Request and response are bounded in size. The signal bounds the whole exchange in time.
 */
export const fetchTool: NativeTool = {
  description: 'Makes one HTTP request to a host that the request was granted.',
  inputSchema: {
    type: 'object',
    properties: {
      url: { type: 'string' },
      method: { enum: METHODS },
      headers: { type: 'object', additionalProperties: { type: 'string' } },
      body: { type: 'string' },
    },
    required: ['url'],
    additionalProperties: false,
  },
  execute: (input, context) => fetchWithin(input as unknown as WebRequest, context),
};

async function fetchWithin(request: WebRequest, { grants, signal }: NativeCallContext): Promise<JsonObject> {
  const granted = grants?.network;
  let url = parse(request.url);
  if (granted === undefined) throw ungranted(url);
  const { method = 'GET', body, headers = {} } = request;
  const bytes = body === undefined ? 0 : Buffer.byteLength(body);
  if (bytes > granted.maxRequestBytes)
    throw new Error(`the body has ${bytes} bytes, and requests may have at most ${granted.maxRequestBytes}`);
  let sent = Object.entries(headers).filter(([name]) => !NOT_THE_PROGRAMS.test(name));
  // Loaded lazily: few programs are granted a network, and loading takes 100 ms.
  const { Agent, fetch: undiciFetch } = (await import('./web-client.js')).webClient;
  const agent = new Agent({ connect: { lookup: guardedLookup(checkPublic) } });
  try {
    for (let hop = 0; ; hop += 1) {
      checkGranted(url, granted);
      const answer = await undiciFetch(url, {
        method,
        headers: sent,
        redirect: 'manual',
        signal,
        dispatcher: agent,
        ...omitUndefined({ body }),
      });
      const location = answer.headers.get('location');
      if (answer.status < 300 || answer.status > 399 || location === null)
        return { url: url.href, ...(await readAnswer(answer as unknown as Response, granted)) };
      await answer.body?.cancel();
      if (hop === MAX_REDIRECTS) throw new Error(`more than ${MAX_REDIRECTS} redirects`);
      // A request that may carry data is not forwarded to a place that the program did not name.
      if (method !== 'GET' && method !== 'HEAD')
        throw new Error(`${url.origin} redirects a ${method}, which is not followed`);
      const next = parse(new URL(location, url).href);
      if (next.origin !== url.origin) sent = sent.filter(([name]) => !CREDENTIALS.test(name));
      url = next;
    }
  } catch (error) {
    throw readable(error, url);
  } finally {
    void agent.destroy();
  }
}

function parse(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw new Error(`${JSON.stringify(text.slice(0, 200))} is not an http or https address`);
  if (url.username !== '' || url.password !== '')
    throw new Error('an address with a user name or a password in it is not used');
  return url;
}

/** Compares the granted host by name. The resolved address is checked later. */
function checkGranted(url: URL, { destinations }: NetworkCapability): void {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const isGranted = destinations.some(({ host, ports }) => ports.includes(port) && coversHost(host, url.hostname));
  if (!isGranted) throw ungranted(url);
}

/** Names may resolve to public addresses only. A literal address is not resolved, so it never gets here: it was granted itself. */
function checkPublic(hostname: string, address: string): void {
  const kind = addressKind(address);
  if (kind === 'public' || (kind === 'loopback' && hostname === 'localhost')) return;
  throw new Error(`${hostname} resolves to an address that is not public; grant that address itself if it is intended`);
}

async function readAnswer(answer: Response, { maxRequestBytes }: NetworkCapability): Promise<JsonObject> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > maxRequestBytes) throw new Error(`the answer has more than ${maxRequestBytes} bytes`);
    chunks.push(chunk);
  }
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => name !== 'set-cookie'));
  return { status: answer.status, headers, body: Buffer.concat(chunks).toString('utf8') };
}

function ungranted(url: URL): Error {
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  return new Error(`the request was not granted network:${url.hostname}:${port}`);
}

/** Leaves out the addresses of the network behind the host. */
function readable(error: unknown, url: URL): Error {
  const { cause } = error as Error;
  if (!(cause instanceof Error)) return error as Error;
  const code = (cause as NodeJS.ErrnoException).code;
  return new Error(code === undefined ? cause.message : `${url.host} cannot be reached (${code})`);
}
