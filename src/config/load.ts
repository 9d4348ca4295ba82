import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { HostError } from '../domain/errors.js';
import type { JsonObject, JsonValue } from '../domain/json.js';
import type { UpstreamDefinition } from '../domain/upstream.js';
import { badConfig, type ConfigDocument, parseTomlDocument, parseYaml } from './document.js';
import type { Environment } from './environment.js';
import { detectFormat, type ForeignFormat, importForeign } from './import.js';
import {
  environmentLayer,
  type FlagValue,
  flagLayer,
  type LayerValues,
  type Merged,
  mergeLayers,
  type Origin,
} from './layers.js';
import { type Mistake, mistakesOf } from './mistakes.js';
import { openTelemetryLayer } from './open-telemetry.js';
import { type KeyPath, renderPath } from './path.js';
import { readConfigFile } from './read-file.js';
import { type Config, configSchema } from './schema.js';
import { upstreamDefinitions } from './server-schema.js';
import { isObject, type Shaped, shapeServers } from './shape.js';
import { substitute } from './substitute.js';

const EXTENSIONS = ['yaml', 'yml', 'json'] as const;
const MAX_REPORTED_MISTAKES = 10;

export interface LoadRequest {
  /** `--config FILE`; without it the usual places are searched. */
  readonly configFile?: string;
  /** Where none of the usual places has one, and this one exists: the file that mcpproxy keeps in the home folder. */
  readonly takesProxyFile?: boolean;
  /** The settings themselves, as a program gives them; no file is read then. Relative paths count from `cwd`. */
  readonly inline?: unknown;
  readonly cwd: string;
  readonly environment: Environment;
  readonly flags?: readonly FlagValue[];
  /** What the schema can't see: rules that contradict their own examples. */
  readonly findMistakes?: (
    config: Config,
    upstreams: readonly UpstreamDefinition[],
  ) => Promise<readonly ConfigMistake[]>;
}

export interface ConfigMistake {
  readonly path: KeyPath;
  readonly problem: string;
}

export interface LoadedConfig {
  readonly config: Config;
  /** The file that was read; absent when there was none and everything is at its default. */
  readonly file?: string;
  readonly format: 'codemode' | ForeignFormat;
  readonly origins: ReadonlyMap<string, Origin>;
  /** Rendered paths of values that came out of environment variables. */
  readonly fromEnvironment: ReadonlySet<string>;
  readonly upstreams: readonly UpstreamDefinition[];
  readonly warnings: readonly string[];
  /** Where a value stands: `config.yaml:7:3`. */
  placeOf(path: KeyPath): string;
}

/** Reads, merges and checks the configuration. Throws `bad_config` with file, line, column, key and what was expected. */
export async function loadConfig(request: LoadRequest): Promise<LoadedConfig> {
  const { inline, environment } = request;
  const { file, warnings: searchWarnings } =
    inline === undefined ? await findConfigFile(request) : { file: undefined, warnings: [] };
  const document =
    inline !== undefined ? inlineDocument(inline) : file === undefined ? undefined : await readFile(file);
  const source = document === undefined ? undefined : readSource(document, environment);

  const telemetry = openTelemetryLayer(environment);
  const layers: LayerValues[] = [telemetry.layer, environmentLayer(environment), flagLayer(request.flags ?? [])];
  if (source !== undefined) layers.unshift(source.layer);
  const merged = mergeLayers(layers);
  const parsed = configSchema.safeParse(merged.value);
  const fromEnvironment = source?.fromEnvironment ?? new Set<string>();
  if (!parsed.success) {
    throw reportMistakes(
      mistakesOf(parsed.error, merged.value, fromEnvironment),
      (mistake) => placeOf(mistake, merged, source),
      (path) => writtenPath(path, merged, source),
    );
  }
  const placed = (path: KeyPath, part: Mistake['part']) => placeOf({ path, part, problem: '' }, merged, source);
  const upstreams = upstreamDefinitions(
    parsed.data.mcpServers,
    file === undefined ? request.cwd : dirname(file),
    environment,
  );
  const mistakes = (await request.findMistakes?.(parsed.data, upstreams)) ?? [];
  if (mistakes.length > 0) {
    throw reportMistakes(
      mistakes.map((mistake) => ({ ...mistake, part: 'value' as const })),
      ({ path, part }) => placed(path, part),
    );
  }
  return {
    config: parsed.data,
    ...(file === undefined ? {} : { file }),
    format: source?.format ?? 'codemode',
    origins: merged.origins,
    fromEnvironment,
    upstreams,
    warnings: [...searchWarnings, ...(source?.warnings ?? []), ...telemetry.warnings],
    placeOf: (path) => placed(path, 'value'),
  };
}

/** `--config`, else `./codemode.config.*`, else the user's configuration folder. */
export async function findConfigFile(
  request: Pick<LoadRequest, 'configFile' | 'takesProxyFile' | 'cwd' | 'environment'>,
): Promise<{ readonly file?: string; readonly warnings: readonly string[] }> {
  if (request.configFile !== undefined)
    return { file: resolve(request.cwd, expandHome(request.configFile, request.environment)), warnings: [] };
  for (const stem of [join(request.cwd, 'codemode.config'), join(configFolder(request.environment), 'config')]) {
    const found: string[] = [];
    for (const extension of EXTENSIONS) if (await exists(`${stem}.${extension}`)) found.push(`${stem}.${extension}`);
    const [file, ...ignored] = found;
    if (file === undefined) continue;
    return { file, warnings: ignored.map((other) => `${other} is not read, because ${file} stands beside it`) };
  }
  const proxyFile = join(home(request.environment), '.mcpproxy', 'mcp_config.json');
  if (request.takesProxyFile === true && (await exists(proxyFile))) return { file: proxyFile, warnings: [] };
  return { warnings: [] };
}

/** The folder in which the user's own configuration lies: `$XDG_CONFIG_HOME/codemode`, else `~/.config/codemode`. */
export function configFolder(environment: Environment): string {
  const base = environment.XDG_CONFIG_HOME;
  return join(base?.startsWith('/') ? base : join(home(environment), '.config'), 'codemode');
}

interface Source {
  readonly document: ConfigDocument;
  readonly shaped: Shaped;
  readonly layer: LayerValues;
  readonly format: 'codemode' | ForeignFormat;
  readonly fromEnvironment: ReadonlySet<string>;
  readonly warnings: readonly string[];
}

async function readFile(file: string): Promise<ConfigDocument> {
  const text = await readConfigFile(file);
  return file.endsWith('.toml') ? parseTomlDocument(text, file) : parseYaml(text, file);
}

/** Mistakes in it are named by their key: there are no lines. */
const INLINE = 'config';

function inlineDocument(value: unknown): ConfigDocument {
  try {
    // Through JSON: settings are plain data, whatever object they were taken from.
    return { file: INLINE, value: JSON.parse(JSON.stringify(value)) as JsonValue, placeOf: () => undefined };
  } catch (error) {
    throw badConfig(INLINE, undefined, 'expected plain data: text, numbers, lists and maps', error);
  }
}

function readSource(document: ConfigDocument, environment: Environment): Source {
  const { file } = document;
  if (!isObject(document.value)) {
    const found =
      document.value === null ? 'only comments' : Array.isArray(document.value) ? 'a list' : 'a single value';
    throw badConfig(
      file,
      document.placeOf([]),
      `expected a map of settings such as "profile: codemode", found ${found}`,
    );
  }
  const format = detectFormat(file, document.value);
  const shaped = format === undefined ? shapeServers(document.value) : importForeign(document.value, format);
  const { result, problems } = substitute(shaped.value, environment);
  const place = (path: KeyPath, part: 'key' | 'value') => renderPlace(document, shaped.originalPath(path), part);
  const mistakes: Mistake[] = [
    ...shaped.problems.map((problem) => ({ ...problem, part: 'key' as const })),
    ...problems.map((problem) => ({ ...problem, path: shaped.originalPath(problem.path), part: 'value' as const })),
  ];
  if (mistakes.length > 0)
    throw reportMistakes(mistakes, (mistake) => renderPlace(document, mistake.path, mistake.part));
  return {
    document,
    shaped,
    layer: { layer: 'file', value: result.value as JsonObject, placeOf: (path) => place(path, 'key') },
    format: format ?? 'codemode',
    fromEnvironment: result.fromEnvironment,
    warnings: 'warnings' in shaped ? (shaped.warnings as string[]).map((warning) => `${file}: ${warning}`) : [],
  };
}

/** A mistake stands where its value came from: in the file, in a variable, on the command line. */
function placeOf(mistake: Mistake, merged: Merged, source: Source | undefined): string {
  const origin = originOf(mistake.path, merged);
  if (origin !== undefined && origin.layer !== 'file') return origin.place;
  if (source === undefined) return 'configuration';
  return renderPlace(source.document, source.shaped.originalPath(mistake.path), mistake.part);
}

function originOf(path: KeyPath, { origins }: Merged): Origin | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const origin = origins.get(renderPath(path.slice(0, length)));
    if (origin !== undefined) return origin;
  }
  return undefined;
}

/** A key of the file is named as it stands there, a server by its name also where it is one of a list. */
function writtenPath(path: KeyPath, merged: Merged, source: Source | undefined): KeyPath {
  if (source === undefined || originOf(path, merged)?.layer !== 'file') return path;
  const written = source.shaped.originalPath(path);
  return written.some((step) => typeof step === 'number') ? path : written;
}

function renderPlace(document: ConfigDocument, path: KeyPath, part: 'key' | 'value'): string {
  const place = document.placeOf(path, part);
  return place === undefined ? document.file : `${document.file}:${place.line}:${place.column}`;
}

function reportMistakes(
  mistakes: readonly Mistake[],
  place: (mistake: Mistake) => string,
  written: (path: KeyPath) => KeyPath = (path) => path,
): HostError {
  const lines = mistakes.slice(0, MAX_REPORTED_MISTAKES).map((mistake) => {
    const key = renderPath(written(mistake.path));
    return `${place(mistake)}: ${key === '' ? '' : `${key}: `}${mistake.problem}`;
  });
  if (mistakes.length > lines.length) lines.push(`and ${mistakes.length - lines.length} more`);
  return new HostError('bad_config', lines.join('\n'));
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
}

function expandHome(file: string, environment: Environment): string {
  return file === '~' || file.startsWith('~/') ? join(home(environment), file.slice(1)) : file;
}

function home(environment: Environment): string {
  return environment.HOME ?? homedir();
}
