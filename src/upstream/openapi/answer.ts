import { STATUS_CODES } from 'node:http';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { ToolReply } from '../../domain/upstream.js';
import { retryAfterMs } from '../../lib/async/retry-after.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { oneLine } from '../../lib/text/bounded-text.js';
import { excessOf } from '../../lib/text/json-excess.js';
import { bare } from './body.js';
import type { HttpAnswer } from './http-client.js';

/** The most characters of an error answer that are passed on. */
const MAX_ERROR_CHARACTERS = 2_000;

/** Converts an API's answer into a tool's reply. Any status but success is the tool's own failure, with the reason the API gives. */
export function replyOf(answer: HttpAnswer, place: string): ToolReply {
  const type = bare(answer.headers.get('content-type') ?? '');
  if (answer.status < 200 || answer.status > 299) return failure(answer);
  if (answer.body.byteLength === 0)
    return { content: [], structuredContent: null, structuredJson: 'null', isError: false };
  if (isJson(type)) return json(answer.body) ?? text(answer.body);
  if (isText(type) || (type === '' && isUtf8(answer.body)))
    return (type === '' ? json(answer.body) : undefined) ?? text(answer.body);
  return binary(answer.body, type === '' ? 'application/octet-stream' : type, place);
}

function failure({ status, headers, body, location }: HttpAnswer): ToolReply {
  const reason = STATUS_CODES[status] ?? '';
  const wait = headers.get('retry-after');
  const said = isUtf8(body) ? new TextDecoder().decode(body.subarray(0, MAX_ERROR_CHARACTERS * 4)) : '';
  const words = [
    `HTTP ${status} ${reason}`.trim(),
    ...(location === undefined ? [] : [`it redirects to ${oneLine(originOf(location), 200)}, which is not followed`]),
    ...(wait === null ? [] : [`try again after ${oneLine(wait, 40)} s`]),
    ...(said.trim() === '' ? [] : [oneLine(said, MAX_ERROR_CHARACTERS)]),
  ];
  const waitMs = retryAfterMs(wait);
  return {
    content: [{ type: 'text', text: words.join(': ') }],
    isError: true,
    refusal: { status, ...omitUndefined({ retryAfterMs: waitMs }) },
  };
}

function json(body: Uint8Array): ToolReply | undefined {
  try {
    const written = new TextDecoder().decode(body);
    // Passed on as text.
    if (excessOf(written) !== undefined) return undefined;
    const value = JSON.parse(written) as JsonValue;
    // Serialized again, so that only parsed data is passed on.
    const structuredJson = JSON.stringify(value);
    return {
      content: [{ type: 'text', text: structuredJson }],
      structuredContent: value,
      structuredJson,
      isError: false,
    };
  } catch {
    return undefined;
  }
}

function text(body: Uint8Array): ToolReply {
  return { content: [{ type: 'text', text: new TextDecoder().decode(body) }], isError: false };
}

function binary(body: Uint8Array, mimeType: string, place: string): ToolReply {
  const data = Buffer.from(body).toString('base64');
  const kind = /^(image|audio)\//.exec(mimeType)?.[1];
  const block: JsonObject =
    kind === undefined
      ? { type: 'resource', resource: { uri: place, mimeType, blob: data } }
      : { type: kind, data, mimeType };
  return { content: [block], isError: false };
}

function isJson(type: string): boolean {
  return /^[\w.+-]+\/([\w.+-]+\+)?json$/.test(type);
}

function isText(type: string): boolean {
  return /^(text\/.*|[\w.+-]+\/([\w.+-]+\+)?(xml|yaml|javascript|x-ndjson|ndjson|csv))$/.test(type);
}

function isUtf8(body: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(body);
    return true;
  } catch {
    return false;
  }
}

function originOf(location: string): string {
  return URL.canParse(location) ? new URL(location).origin : location;
}
