// @ts-check
// What a client of the soak says over HTTP, and how an answer is judged.
import { isDeepStrictEqual } from 'node:util';
import { Pool } from 'undici';

const PREFIX = '/api/v1';
/** Refusals that a host under load may give: too many requests, no room. */
const BUSY = new Set([429, 503]);
const MAX_SHOWN = 300;

/** An answer that is not what the host promises. */
export class Unexpected extends Error {}

/** @typedef {{ status: number, body: any }} Answer */
/** @typedef {ReturnType<typeof openSoakClient>} SoakClient */

/** @param {string} url @param {number} connections */
export function openSoakClient(url, connections) {
  const pool = new Pool(url, { connections, connectTimeout: 120_000, headersTimeout: 120_000, bodyTimeout: 120_000 });
  const send = async (method, path, token, body, more = {}) => {
    const {
      statusCode,
      headers,
      body: stream,
    } = await pool.request({
      ...{ method, path },
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...more.headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(more.signal === undefined ? {} : { signal: more.signal }),
    });
    const text = await stream.text();
    return { status: statusCode, headers, text };
  };
  const json = ({ status, text }) => {
    try {
      return { status, body: JSON.parse(text) };
    } catch {
      throw new Unexpected(`status ${status}, no JSON: ${text.slice(0, MAX_SHOWN)}`);
    }
  };
  return {
    url,
    send,
    /** @returns {Promise<Answer>} */
    post: async (path, token, body, more = {}) => json(await send('POST', `${PREFIX}${path}`, token, body, more)),
    /** @returns {Promise<Answer>} */
    get: async (path, token) => json(await send('GET', `${PREFIX}${path}`, token)),
    /** @returns {Promise<string>} */
    metrics: async (token) => (await send('GET', '/metrics', token)).text,
    close: () => pool.destroy(),
  };
}

/** @param {Answer} answer @returns {boolean} whether the host had no room: no fault, and not the answer either */
export function isBusy({ status }) {
  return BUSY.has(status);
}

/** @param {Answer} answer @param {unknown} expected what the run must come to */
export function mustComeTo({ status, body }, expected) {
  if (status !== 200 || !isDeepStrictEqual(body.result, expected)) fail(status, body, JSON.stringify(expected));
}

/** @param {Answer} answer @param {number[]} statuses */
export function mustHaveStatus({ status, body }, statuses) {
  if (!statuses.includes(status)) fail(status, body, `status ${statuses.join(' or ')}`);
}

/** A run that may end as it likes, but is answered as a run. @param {Answer} answer */
export function mustBeAnswered({ status, body }) {
  if (status !== 200 || typeof body !== 'object' || body === null) fail(status, body, 'an answer of a run');
}

/** @returns {never} */
function fail(status, body, expected) {
  const got = (JSON.stringify(body) ?? '').slice(0, MAX_SHOWN);
  throw new Unexpected(`${status} ${got}, where ${expected} was expected`);
}
