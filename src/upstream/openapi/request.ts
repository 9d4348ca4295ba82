import { FormData } from 'undici';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { Presented } from './credentials.js';
import type { HttpRequest } from './http-client.js';
import { hasDotSegment } from './operations.js';
import type { Plan, PlannedBody } from './plan.js';
import { encode, inHeader, inPath, inQuery, plain } from './serialise.js';

/** The arguments cannot be sent. */
export class BadArguments extends Error {}

const MAX_URL_CHARACTERS = 64 * 1024;
/** What a header can hold: visible Latin-1 characters, blanks and tabs. A line break would begin another header. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/;

/** The request for a call. Whatever the arguments, it is a request for this operation of this API. */
export function requestOf(
  plan: Plan,
  input: JsonObject,
  presented: Presented,
): Pick<HttpRequest, 'url' | 'method' | 'headers' | 'body'> {
  const { source, parameters, body: planned } = plan;
  const headers = new Headers({ accept: 'application/json, text/*;q=0.8, */*;q=0.5', 'user-agent': 'codemode' });
  const query: string[] = [];
  const cookies: string[] = [];
  const steps = new Map<string, string>();
  for (const { argument, parameter } of parameters) {
    const value = Object.hasOwn(input, argument) ? input[argument] : undefined;
    if (value === undefined) {
      if (parameter.in === 'path') throw new BadArguments(`${argument} is missing`);
      continue;
    }
    const written = <Result>(write: () => Result): Result => sendable(argument, write);
    if (parameter.in === 'path')
      steps.set(
        parameter.name,
        pathStep(
          argument,
          value,
          written(() => inPath(parameter, value)),
        ),
      );
    else if (parameter.in === 'query') query.push(...written(() => inQuery(parameter, value)));
    else if (parameter.in === 'cookie')
      cookies.push(`${parameter.name}=${written(() => encode(inHeader(parameter, value)))}`);
    else headers.set(parameter.name, headerValue(argument, inHeader(parameter, value)));
  }
  const body = planned === undefined ? undefined : bodyFrom(planned, input);
  if (body?.mediaType !== undefined) headers.set('content-type', body.mediaType);
  // Last: nothing from a program overrides what the user has set.
  for (const [name, value] of Object.entries(presented.headers)) headers.set(name, value);
  const { secret } = presented;
  if (secret !== undefined && !plan.isOpen) {
    if (secret.in === 'header') headers.set(secret.name, secret.value);
    else if (secret.in === 'query') query.push(`${encode(secret.name)}=${encode(secret.value)}`);
    else cookies.push(`${secret.name}=${encode(secret.value)}`);
  }
  if (cookies.length > 0) headers.set('cookie', [headers.get('cookie') ?? [], ...cookies].flat().join('; '));
  return {
    url: addressOf(source.baseUrl, source.path, steps, query),
    method: source.method.toUpperCase(),
    headers,
    ...omitUndefined({ body: body?.content }),
  };
}

/** Fills in the template, and checks that the result still matches it. */
function addressOf(base: URL, template: string, steps: ReadonlyMap<string, string>, query: readonly string[]): URL {
  const literal = (text: string) => text.replace(/[^\x21-\x7e]|[{}"<>^`|]/gu, encode);
  const path = template
    .split(/(\{[^{}]*\})/)
    .map((piece) => (/^\{.*\}$/.test(piece) ? (steps.get(piece.slice(1, -1)) ?? '') : literal(piece)))
    .join('');
  if (hasDotSegment(path)) throw new BadArguments('a path with . or .. in it is not called');
  const text = `${base.href.replace(/\/+$/, '')}${path}${query.length === 0 ? '' : `?${query.join('&')}`}`;
  if (text.length > MAX_URL_CHARACTERS) throw new BadArguments(`the address would have ${text.length} characters`);
  const url = new URL(text);
  if (url.origin !== base.origin || !url.pathname.startsWith(base.pathname))
    throw new BadArguments('these arguments lead to another address than the API');
  return url;
}

/** One path segment, or several if it has an encoded slash. Never a step up, however often it is decoded. */
function pathStep(argument: string, value: JsonValue, encoded: string): string {
  if (encoded === '') throw new BadArguments(`${argument} is empty, and would make another path`);
  for (let text = encoded, times = 0; times < MAX_DECODINGS; times += 1) {
    if (hasDotSegment(text)) throw new BadArguments(`${argument} has . or .. as a step of a path: ${shown(value)}`);
    const next = decodeSafely(text);
    if (next === text) break;
    text = next;
  }
  return encoded;
}

const MAX_DECODINGS = 4;

function headerValue(argument: string, text: string): string {
  if (HEADER_VALUE.test(text)) return text;
  throw new BadArguments(
    `${argument} cannot be sent as a header: line breaks and letters beyond Latin-1 are not possible`,
  );
}

function bodyFrom(
  planned: PlannedBody,
  input: JsonObject,
): { content: RequestInit['body']; mediaType?: string } | undefined {
  const { kind, mediaType, parts, argument } = planned;
  const given =
    parts === undefined
      ? Object.hasOwn(input, argument ?? '')
        ? input[argument ?? '']
        : undefined
      : Object.fromEntries(
          parts.flatMap(({ argument: from, property }) =>
            Object.hasOwn(input, from) ? [[property.name, input[from] as JsonValue]] : [],
          ),
        );
  if (given === undefined || (parts !== undefined && !planned.isRequired && Object.keys(given as object).length === 0))
    return undefined;
  switch (kind) {
    case 'json':
      return { content: JSON.stringify(given), mediaType };
    case 'text':
      return { content: plain(given), mediaType };
    case 'form':
      return { content: formFields(given), mediaType };
    case 'multipart':
      // The boundary is chosen with the body, so `content-type` is set with it.
      return { content: formData(given) as never };
    case 'binary': {
      const { bytes, contentType } = fileOf(given, argument ?? 'body');
      return { content: bytes as never, mediaType: contentType ?? mediaType };
    }
  }
}

function formFields(given: JsonValue): string {
  const fields = isJsonObject(given) ? Object.entries(given) : [];
  return sendable('the body', () =>
    fields
      .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((each) => [name, each] as const))
      .map(([name, value]) => `${encode(name)}=${encode(plain(value))}`)
      .join('&'),
  );
}

function formData(given: JsonValue): FormData {
  const form = new FormData();
  for (const [name, value] of isJsonObject(given) ? Object.entries(given) : [])
    for (const each of Array.isArray(value) ? value : [value]) {
      if (isJsonObject(each) && typeof each.base64 === 'string') {
        const { bytes, contentType, filename } = fileOf(each, name);
        form.append(
          name,
          new Blob([bytes as never], { type: contentType ?? 'application/octet-stream' }),
          filename ?? name,
        );
      } else form.append(name, plain(each));
    }
  return form;
}

function fileOf(value: JsonValue, argument: string): { bytes: Buffer; contentType?: string; filename?: string } {
  if (!isJsonObject(value) || typeof value.base64 !== 'string')
    throw new BadArguments(`${argument} is a file: give { base64, filename, contentType }`);
  const { base64, contentType, filename } = value;
  if (typeof contentType === 'string' && !MEDIA_TYPE.test(contentType))
    throw new BadArguments(`${argument}: contentType is something like image/png`);
  return {
    bytes: Buffer.from(base64, 'base64'),
    ...(typeof contentType === 'string' ? { contentType } : {}),
    ...(typeof filename === 'string' ? { filename } : {}),
  };
}

/** An unpaired surrogate cannot be encoded in a URL. */
function sendable<Result>(argument: string, write: () => Result): Result {
  try {
    return write();
  } catch (error) {
    if (error instanceof URIError) throw new BadArguments(`${argument} is not well-formed text`);
    throw error;
  }
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function shown(value: JsonValue): string {
  return JSON.stringify(value).slice(0, 100);
}
