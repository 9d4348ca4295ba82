import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { OperationSource } from './operations.js';
import type { Pointers } from './pointer.js';

export type Place = 'path' | 'query' | 'header' | 'cookie';

/** One parameter of an operation, and the argument that supplies it. */
export interface Parameter {
  readonly name: string;
  readonly in: Place;
  readonly style: string;
  readonly explode: boolean;
  /** Serialized as JSON, whatever its style. */
  readonly isJson: boolean;
  readonly isRequired: boolean;
  readonly schema: JsonValue | undefined;
  readonly description: string | undefined;
  readonly isDeprecated: boolean;
}

const PLACES: readonly Place[] = ['path', 'query', 'header', 'cookie'];
const DEFAULT_STYLES = { path: 'simple', query: 'form', header: 'simple', cookie: 'form' };
const STYLES: Readonly<Record<Place, readonly string[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
};
const MAX_PARAMETERS = 500;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Set by the connection, by us or by the user: no document may ask a program for them. */
const NOT_FOR_PROGRAMS =
  /^(accept|content-type|authorization|cookie|host|connection|content-length|transfer-encoding|upgrade|te|trailer|expect|keep-alive|proxy-.*|sec-.*|x-forwarded-.*|forwarded)$/i;

/** A parameter that the user has already set: the program is not asked for it and cannot change it. */
export interface Preset {
  readonly in: Place;
  readonly name: string;
}

/** The parameters of an operation, in order of their claim to a name: path parameters first. */
export function parametersOf(
  { operation, pathItem, path }: OperationSource,
  pointers: Pointers,
  presets: readonly Preset[],
): Parameter[] {
  const found = new Map<string, Parameter>();
  const inTemplate = new Set(templateNames(path));
  // The operation's own parameters override those of its path.
  for (const raw of [...listOf(pathItem.parameters), ...listOf(operation.parameters)].slice(0, MAX_PARAMETERS)) {
    const parameter = read(pointers.follow(raw), pointers);
    if (parameter === undefined || isPreset(parameter, presets)) continue;
    if (parameter.in === 'path' && !inTemplate.has(parameter.name)) continue;
    found.set(JSON.stringify([parameter.in, parameter.name]), parameter);
  }
  for (const name of inTemplate) {
    const key = JSON.stringify(['path', name]);
    if (!found.has(key)) found.set(key, undeclared(name));
  }
  return [...found.values()].sort((left, right) => PLACES.indexOf(left.in) - PLACES.indexOf(right.in));
}

/** `/pets/{id}` has `id`. */
export function templateNames(path: string): string[] {
  return [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name);
}

export function isHeaderName(name: string): boolean {
  return TOKEN.test(name);
}

function read(raw: JsonObject | undefined, pointers: Pointers): Parameter | undefined {
  if (raw === undefined || typeof raw.name !== 'string' || raw.name === '' || raw.name === '__proto__')
    return undefined;
  const place = PLACES.find((each) => each === raw.in);
  if (place === undefined) return undefined;
  if ((place === 'header' || place === 'cookie') && !TOKEN.test(raw.name)) return undefined;
  if (place === 'header' && NOT_FOR_PROGRAMS.test(raw.name)) return undefined;
  const style = STYLES[place].find((each) => each === raw.style) ?? DEFAULT_STYLES[place];
  const [content] = isJsonObject(raw.content) ? Object.values(raw.content) : [];
  return {
    name: raw.name,
    in: place,
    style,
    explode: typeof raw.explode === 'boolean' ? raw.explode : style === 'form',
    isJson: content !== undefined,
    isRequired: place === 'path' || raw.required === true,
    schema: raw.schema ?? pointers.follow(content)?.schema,
    description: typeof raw.description === 'string' ? raw.description : undefined,
    isDeprecated: raw.deprecated === true,
  };
}

function isPreset({ in: place, name }: Parameter, presets: readonly Preset[]): boolean {
  return presets.some(
    (preset) =>
      preset.in === place &&
      (place === 'header' ? preset.name.toLowerCase() === name.toLowerCase() : preset.name === name),
  );
}

function undeclared(name: string): Parameter {
  const schema = { type: 'string' };
  const rest = { style: 'simple', explode: false, isJson: false, isRequired: true, isDeprecated: false };
  return { name, in: 'path', schema, description: undefined, ...rest };
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
