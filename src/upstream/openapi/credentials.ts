import { isJsonObject, type JsonObject } from '../../domain/json.js';
import type { ApiCredential, OpenApiTarget } from '../../domain/targets/openapi.js';
import { oneLine, quotedLine } from '../../lib/text/bounded-text.js';
import { isHeaderName, type Preset } from './parameters.js';
import type { Pointers } from './pointer.js';

/** The user's credentials for the API, ready to send. They never reach a program, and no document chooses who gets them. */
export interface Presented {
  readonly headers: Readonly<Record<string, string>>;
  /** Only for operations that require authentication. */
  readonly secret:
    | { readonly in: 'header' | 'query' | 'cookie'; readonly name: string; readonly value: string }
    | undefined;
  /** Parameters that programs are not asked for because the credentials set them. */
  readonly presets: readonly Preset[];
}

/** Throws if the document does not say where a key goes. */
export function presentedBy(target: OpenApiTarget, document: JsonObject, pointers: Pointers): Presented {
  const secret = target.auth === undefined ? undefined : secretOf(target.auth, document, pointers);
  const presets: Preset[] = Object.keys(target.headers).map((name) => ({ in: 'header', name }));
  return {
    headers: target.headers,
    secret,
    presets: secret === undefined ? presets : [...presets, { in: secret.in, name: secret.name }],
  };
}

/** The headers that are known before the document is read. */
export function presetHeaders({ headers, auth }: OpenApiTarget): Record<string, string> {
  if (auth === undefined || (auth.type === 'apiKey' && auth.in !== 'header')) return { ...headers };
  const name = auth.type === 'apiKey' ? (auth.name ?? '') : 'Authorization';
  return { ...headers, [name]: sentFor(auth) };
}

function secretOf(auth: ApiCredential, document: JsonObject, pointers: Pointers): Presented['secret'] {
  const value = sentFor(auth);
  if (auth.type !== 'apiKey') return { in: 'header', name: 'Authorization', value };
  const place = auth.in === undefined || auth.name === undefined ? declaredPlace(document, pointers) : auth;
  const name = place.name ?? '';
  const isHeader = place.in !== 'query';
  if (isHeader && (!isHeaderName(name) || /^(host|connection|content-length|transfer-encoding)$/i.test(name)))
    throw new Error(`a key cannot be sent as ${quotedLine(name, 60)}; set auth.in and auth.name`);
  return { in: place.in ?? 'header', name, value };
}

function sentFor(auth: ApiCredential): string {
  switch (auth.type) {
    case 'bearer':
      return `Bearer ${auth.token}`;
    case 'basic':
      return `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
    case 'apiKey':
      return auth.key;
  }
}

/** Where the document declares its API key. Throws unless it declares exactly one place. */
function declaredPlace(
  document: JsonObject,
  pointers: Pointers,
): { readonly in: 'header' | 'query' | 'cookie'; readonly name: string } {
  const schemes = isJsonObject(document.components) ? document.components.securitySchemes : undefined;
  const places = new Map<string, { in: 'header' | 'query' | 'cookie'; name: string }>();
  for (const raw of isJsonObject(schemes) ? Object.values(schemes) : []) {
    const scheme = pointers.follow(raw);
    if (scheme?.type !== 'apiKey' || typeof scheme.name !== 'string') continue;
    const place = (['header', 'query', 'cookie'] as const).find((each) => each === scheme.in);
    if (place !== undefined) places.set(`${place} ${scheme.name}`, { in: place, name: scheme.name });
  }
  const [only, ...others] = places.values();
  if (only !== undefined && others.length === 0) return only;
  const found = others.length === 0 ? 'nowhere' : `in several places (${oneLine([...places.keys()].join(', '), 200)})`;
  throw new Error(`its document wants an API key ${found}; set auth.in and auth.name`);
}
