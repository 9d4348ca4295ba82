import type { JsonObject, JsonValue } from '../../domain/json.js';
import { detectFormat, type ForeignFormat, importForeign } from '../import/import.js';
import type { BrokenServers } from '../schema/broken-servers.js';
import { type Mistake, reportMistakes } from '../schema/mistakes.js';
import { isObject, type Shaped, shapeServers } from '../schema/server-map.js';
import type { Environment } from '../variables/environment.js';
import { substitute } from '../variables/substitute.js';
import { badConfig, type ConfigDocument } from './document.js';
import type { LayerValues, Merged, Origin } from './layers.js';
import { type KeyPath, renderPath } from './path.js';

/** The settings of one document, in the form that the schema expects. */
export interface Source {
  readonly document: ConfigDocument;
  readonly shaped: Shaped;
  readonly layer: LayerValues;
  readonly format: 'codemode' | ForeignFormat;
  readonly fromEnvironment: ReadonlySet<string>;
  /** The variables that were filled in, with their values. */
  readonly variables: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
}

/** Stands for the file name of inline settings. Mistakes in them are named by key, because there are no lines. */
const INLINE = 'config';

export function inlineDocument(value: unknown): ConfigDocument {
  try {
    // Through JSON: settings are plain data, whatever object they came from.
    return { file: INLINE, value: JSON.parse(JSON.stringify(value)) as JsonValue, placeOf: () => undefined };
  } catch (error) {
    throw badConfig(INLINE, undefined, 'expected plain data: text, numbers, lists and maps', error);
  }
}

/** The format of a document, and the same data in ours. Throws `bad_config`. */
export function shapeDocument(document: ConfigDocument): Pick<Source, 'document' | 'shaped' | 'format'> {
  const { file, value } = document;
  if (!isObject(value)) {
    const found = value === null ? 'only comments' : Array.isArray(value) ? 'a list' : 'a single value';
    throw badConfig(
      file,
      document.placeOf([]),
      `expected a map of settings such as "profile: codemode", found ${found}`,
    );
  }
  const format = detectFormat(file, value);
  const shaped = format === undefined ? shapeServers(value) : importForeign(value, format);
  return { document, shaped, format: format ?? 'codemode' };
}

/**
 * Fills in environment variables. Mistakes inside the entry of one server go to `broken`. Every other mistake may weaken a
 * protection, and is thrown as `bad_config`.
 */
export function readSource(
  { document, shaped, format }: Pick<Source, 'document' | 'shaped' | 'format'>,
  environment: Environment,
  broken: BrokenServers,
): Source {
  const { result, problems } = substitute(shaped.value, environment);
  const mistakes: Mistake[] = [];
  for (const { server, ...problem } of shaped.problems) {
    const place = renderPlace(document, problem.path, 'key');
    if (server === undefined) mistakes.push({ ...problem, part: 'key' });
    else broken.add(server, { place, key: renderPath(problem.path), problem: problem.problem });
  }
  for (const { path, problem } of problems) {
    const written = shaped.originalPath(path);
    const place = renderPlace(document, written, 'value');
    const server = serverOf(path);
    if (server === undefined) mistakes.push({ path: written, part: 'value', problem });
    else broken.add(server, { place, key: renderPath(named(path, written)), problem });
  }
  if (mistakes.length > 0)
    throw reportMistakes(mistakes, (mistake) => renderPlace(document, mistake.path, mistake.part));
  return {
    document,
    shaped,
    format,
    layer: {
      layer: 'file',
      value: result.value as JsonObject,
      placeOf: (path) => renderPlace(document, shaped.originalPath(path), 'key'),
    },
    fromEnvironment: result.fromEnvironment,
    variables: result.variables,
    warnings:
      'warnings' in shaped ? (shaped.warnings as string[]).map((warning) => `${document.file}: ${warning}`) : [],
  };
}

/** The server whose entry a path leads into. */
export function serverOf([top, name]: KeyPath): string | undefined {
  return top === 'mcpServers' && typeof name === 'string' ? name : undefined;
}

/** The place of a mistake is the origin of its value: the file, a variable, or the command line. */
export function placeOf(mistake: Mistake, merged: Merged, source: Source | undefined): string {
  const origin = originOf(mistake.path, merged);
  if (origin !== undefined && origin.layer !== 'file') return origin.place;
  if (source === undefined) return 'configuration';
  return renderPlace(source.document, source.shaped.originalPath(mistake.path), mistake.part);
}

/** A key of the file is named as written there. A server in a list is named by its name. */
export function writtenPath(path: KeyPath, merged: Merged, source: Source | undefined): KeyPath {
  // What is missing has no origin: it is missing where its entry is written.
  if (source === undefined || (originOf(path, merged)?.layer ?? 'file') !== 'file') return path;
  return named(path, source.shaped.originalPath(path));
}

function named(path: KeyPath, written: KeyPath): KeyPath {
  return written.some((step) => typeof step === 'number') ? path : written;
}

function originOf(path: KeyPath, { origins }: Merged): Origin | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const origin = origins.get(renderPath(path.slice(0, length)));
    if (origin !== undefined) return origin;
  }
  return undefined;
}

function renderPlace(document: ConfigDocument, path: KeyPath, part: 'key' | 'value'): string {
  const place = document.placeOf(path, part);
  return place === undefined ? document.file : `${document.file}:${place.line}:${place.column}`;
}
