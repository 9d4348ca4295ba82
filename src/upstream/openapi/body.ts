import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { OperationSource } from './operations.js';
import type { Pointers } from './pointer.js';

export type BodyKind = 'json' | 'form' | 'multipart' | 'text' | 'binary';

/** The request body of an operation. */
export interface Body {
  readonly kind: BodyKind;
  readonly mediaType: string;
  readonly schema: JsonValue | undefined;
  readonly isRequired: boolean;
  readonly description: string | undefined;
  /** Its properties, if each can be a separate argument. */
  readonly properties: readonly BodyProperty[] | undefined;
}

export interface BodyProperty {
  readonly name: string;
  readonly schema: JsonValue;
  readonly isRequired: boolean;
  readonly isFile: boolean;
}

/** How arguments, which are JSON, represent bytes. */
export const FILE_SCHEMA: JsonObject = {
  type: 'object',
  description: 'A file: its bytes in base64.',
  properties: { base64: { type: 'string' }, filename: { type: 'string' }, contentType: { type: 'string' } },
  required: ['base64'],
  additionalProperties: false,
};

/** The kinds in order of preference, for an operation that accepts several. */
const KINDS: readonly (readonly [BodyKind, RegExp])[] = [
  ['json', /^application\/json$/],
  ['json', /^[\w.+-]+\/([\w.+-]+\+)?json$/],
  ['form', /^application\/x-www-form-urlencoded$/],
  ['multipart', /^multipart\/form-data$/],
  ['text', /^(text\/[\w.+-]+|[\w.+-]+\/([\w.+-]+\+)?(xml|yaml))$/],
  ['binary', /^[\w.+-]+\/[\w.+-]+$/],
  ['json', /^\*\/\*$/],
];
const JSON_TYPE = 'application/json';
const MAX_PROPERTIES = 500;
/** With one of these keywords, the properties do not describe the whole object. */
const NOT_PLAIN = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'patternProperties', 'dependentSchemas', 'discriminator'];

export function bodyOf({ operation, method }: OperationSource, pointers: Pointers): Body | undefined {
  if (method === 'get' || method === 'head') return undefined;
  const request = pointers.follow(operation.requestBody);
  const content = isJsonObject(request?.content) ? request.content : undefined;
  const chosen = content === undefined ? undefined : chooseMediaType(Object.keys(content));
  if (request === undefined || content === undefined || chosen === undefined) return undefined;
  const [kind, key] = chosen;
  const media = pointers.follow(content[key]);
  const isRequired = request.required === true;
  return {
    kind,
    mediaType: key.includes('*') ? JSON_TYPE : key.toLowerCase(),
    schema: media?.schema,
    isRequired,
    description: typeof request.description === 'string' ? request.description : undefined,
    properties:
      kind === 'text' || kind === 'binary' ? undefined : propertiesOf(media?.schema, isRequired, kind, pointers),
  };
}

/** The kind and the media type of the best match. */
export function chooseMediaType(types: readonly string[]): readonly [BodyKind, string] | undefined {
  for (const [kind, pattern] of KINDS) {
    const found = types.find((type) => pattern.test(bare(type)));
    if (found !== undefined) return [kind, found];
  }
  return undefined;
}

/** The media type without its parameters. */
export function bare(mediaType: string): string {
  return (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/**
 * The properties of a body that is a plain object. Undefined if the body must stay one argument: it is optional but has required
 * properties, or it accepts additional properties.
 */
function propertiesOf(
  raw: JsonValue | undefined,
  isRequired: boolean,
  kind: BodyKind,
  pointers: Pointers,
): readonly BodyProperty[] | undefined {
  const schema = pointers.follow(raw);
  const properties = isJsonObject(schema?.properties) ? Object.entries(schema.properties) : [];
  if (schema === undefined || properties.length === 0 || properties.length > MAX_PROPERTIES) return undefined;
  if (NOT_PLAIN.some((word) => Object.hasOwn(schema, word))) return undefined;
  if (schema.nullable === true || Array.isArray(schema.type)) return undefined;
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) return undefined;
  const required = Array.isArray(schema.required) ? schema.required : [];
  if (!isRequired && required.length > 0) return undefined;
  return properties
    .filter(([name, each]) => name !== '__proto__' && pointers.follow(each)?.readOnly !== true)
    .map(([name, each]) => ({
      name,
      schema: each,
      isRequired: required.includes(name),
      isFile: kind === 'multipart' && isFile(pointers.follow(each), pointers),
    }));
}

function isFile(schema: JsonObject | undefined, pointers: Pointers): boolean {
  if (schema === undefined) return false;
  if (schema.type === 'array') return isFile(pointers.follow(schema.items), pointers);
  const media = typeof schema.contentMediaType === 'string' && schema.contentEncoding === undefined;
  return schema.format === 'binary' || media;
}
