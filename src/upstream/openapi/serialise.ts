import { isJsonObject, type JsonValue } from '../../domain/json.js';
import type { Parameter } from './parameters.js';

/** The maximum depth of `filter[a][b]=1`. */
const MAX_DEPTH = 5;

/** A path parameter, encoded so that it stays within its place in the template. */
export function inPath({ name, style, explode, isJson }: Parameter, value: JsonValue): string {
  if (isJson) return encode(JSON.stringify(value));
  if (style === 'label') return `.${parts(value, explode).join(explode ? '.' : ',')}`;
  if (style === 'matrix') {
    const label = encode(name);
    if (explode && Array.isArray(value)) return value.map((each) => `;${label}=${encode(plain(each))}`).join('');
    if (explode && isJsonObject(value))
      return parts(value, true)
        .map((each) => `;${each}`)
        .join('');
    return `;${label}=${parts(value, false).join(',')}`;
  }
  return parts(value, explode).join(',');
}

/** A query parameter, as encoded pairs. */
export function inQuery({ name, style, explode, isJson }: Parameter, value: JsonValue): string[] {
  const key = encode(name);
  if (value === null) return [];
  if (isJson) return [`${key}=${encode(JSON.stringify(value))}`];
  if (style === 'deepObject' && isJsonObject(value)) return deep(key, value, 0);
  if (Array.isArray(value)) {
    if (explode) return value.map((each) => `${key}=${encode(plain(each))}`);
    const separator = style === 'spaceDelimited' ? '%20' : style === 'pipeDelimited' ? '%7C' : ',';
    return [`${key}=${value.map((each) => encode(plain(each))).join(separator)}`];
  }
  if (isJsonObject(value)) return explode ? parts(value, true) : [`${key}=${parts(value, false).join(',')}`];
  return [`${key}=${encode(plain(value))}`];
}

/** The value of a header, or of a cookie before it is encoded. */
export function inHeader({ explode, isJson }: Parameter, value: JsonValue): string {
  if (isJson) return JSON.stringify(value);
  if (Array.isArray(value)) return value.map(plain).join(',');
  if (!isJsonObject(value)) return plain(value);
  return Object.entries(value)
    .flatMap(([key, each]) => (explode ? [`${key}=${plain(each)}`] : [key, plain(each)]))
    .join(',');
}

/** Strings and scalars in their usual text form. Anything else as JSON. */
export function plain(value: JsonValue): string {
  if (typeof value === 'string') return value;
  return value === null ? '' : JSON.stringify(value);
}

/** Throws a URIError for an unpaired surrogate. */
export function encode(text: string): string {
  return encodeURIComponent(text);
}

function parts(value: JsonValue, explode: boolean): string[] {
  if (Array.isArray(value)) return value.map((each) => encode(plain(each)));
  if (!isJsonObject(value)) return [encode(plain(value))];
  return Object.entries(value).flatMap(([key, each]) =>
    explode ? [`${encode(key)}=${encode(plain(each))}`] : [encode(key), encode(plain(each))],
  );
}

function deep(key: string, value: JsonValue, depth: number): string[] {
  if (isJsonObject(value) && depth < MAX_DEPTH)
    return Object.entries(value).flatMap(([name, each]) => deep(`${key}%5B${encode(name)}%5D`, each, depth + 1));
  if (Array.isArray(value)) return value.map((each) => `${key}=${encode(plain(each))}`);
  return value === null ? [] : [`${key}=${encode(plain(value))}`];
}
