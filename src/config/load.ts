import { dirname } from 'node:path';
import { HostError, isHostError } from '../domain/errors.js';
import type { UpstreamDefinition } from '../domain/upstream.js';
import { omitUndefined } from '../lib/omit-undefined.js';
import { type ConfigDocument, parseTomlDocument, parseYaml } from './files/document.js';
import { type FileOrigin, type FoundFile, findConfigFile, type Search, type SearchedPlace } from './files/find-file.js';
import {
  environmentLayer,
  type FlagValue,
  flagLayer,
  type LayerValues,
  type Merged,
  mergeLayers,
  type Origin,
} from './files/layers.js';
import { type KeyPath, renderPath } from './files/path.js';
import { readConfigText } from './files/read-file.js';
import {
  inlineDocument,
  placeOf,
  readSource,
  type Source,
  serverOf,
  shapeDocument,
  writtenPath,
} from './files/source.js';
import type { ForeignFormat } from './import/import.js';
import { BrokenServers, type DisabledServer } from './schema/broken-servers.js';
import { type Mistake, mistakesOf, reportMistakes } from './schema/mistakes.js';
import { openTelemetryLayer } from './schema/open-telemetry.js';
import { type Config, configSchema } from './schema/schema.js';
import { disabledEntry, upstreamDefinitions } from './schema/server-schema.js';
import { type ConfirmTrust, requireTrust } from './trust/trust.js';
import type { Environment } from './variables/environment.js';

export interface LoadRequest {
  /** `--config FILE`; without it the usual places are searched. */
  readonly configFile?: string;
  /** `--project-folder FOLDER`: searched for a project's file instead of `cwd`. */
  readonly projectFolder?: string;
  /** Whether to use the file that mcpproxy keeps in the home folder, if none of the usual places has one. */
  readonly takesProxyFile?: boolean;
  /** The settings themselves, given by a program; then no file is read. Relative paths are relative to `cwd`. */
  readonly inline?: unknown;
  readonly cwd: string;
  readonly environment: Environment;
  readonly flags?: readonly FlagValue[];
  /** Asks a person about a file that was found in the current folder. Without it, nobody is asked. */
  readonly confirmTrust?: ConfirmTrust;
  /** Finds mistakes that the schema cannot: rules that contradict their own examples. */
  readonly findMistakes?: (
    config: Config,
    upstreams: readonly UpstreamDefinition[],
    disabled: readonly DisabledServer[],
  ) => Promise<readonly ConfigMistake[]>;
}

export interface ConfigMistake {
  readonly path: KeyPath;
  readonly problem: string;
}

export interface LoadedConfig {
  readonly config: Config;
  /** The file that was read; absent if there was none and everything has its default. */
  readonly file?: string;
  /** Where the file was found. */
  readonly fileOrigin?: FileOrigin;
  /** Every place that was considered, in order. Empty if a program gave the settings. */
  readonly searched: readonly SearchedPlace[];
  readonly format: 'codemode' | ForeignFormat;
  readonly origins: ReadonlyMap<string, Origin>;
  /** Rendered paths of values that came from environment variables. */
  readonly fromEnvironment: ReadonlySet<string>;
  /** The variables that the file refers to, with their values, which are often secrets. */
  readonly variables: ReadonlyMap<string, string>;
  readonly upstreams: readonly UpstreamDefinition[];
  /** Servers whose entries have mistakes. They are not among `upstreams`. */
  readonly disabledServers: readonly DisabledServer[];
  readonly warnings: readonly string[];
  /** The place of a value: `config.yaml:7:3`. */
  placeOf(path: KeyPath): string;
}

/**
 * Reads, merges and checks the configuration. Throws `bad_config` with file, line, column, key and what was expected, and
 * `untrusted_config` for a file of the current folder that nobody agreed to. A mistake inside the entry of one server only disables
 * that server, with a warning.
 */
export async function loadConfig(request: LoadRequest): Promise<LoadedConfig> {
  const { inline, environment } = request;
  const search: Search = inline === undefined ? await findConfigFile(request) : { searched: [], warnings: [] };
  const file = search.found?.file;
  const document =
    inline !== undefined ? inlineDocument(inline) : search.found && (await readDocument(search.found, search, request));
  const shaped = document && shapeDocument(document);
  const broken = new BrokenServers((shaped?.shaped.value as { mcpServers?: never } | undefined)?.mcpServers);
  const source = shaped && readSource(shaped, environment, broken);

  const telemetry = openTelemetryLayer(environment);
  const layers: LayerValues[] = [telemetry.layer, environmentLayer(environment), flagLayer(request.flags ?? [])];
  if (source !== undefined) layers.unshift(source.layer);
  const merged = mergeLayers(layers);
  const fromEnvironment = source?.fromEnvironment ?? new Set<string>();
  const config = checked(merged, source, broken, fromEnvironment);

  const placed = (path: KeyPath, part: Mistake['part']) => placeOf({ path, part, problem: '' }, merged, source);
  const base = file === undefined ? request.cwd : dirname(file);
  // The person agreed to the content of this folder: its `node ./server.mjs` must never start a file of another folder.
  const folders = { base, ...(search.found?.origin === 'project' ? { start: base } : {}) };
  const upstreams = upstreamDefinitions(config.mcpServers, folders, environment);
  const disabledServers = broken.list();
  const mistakes = (await request.findMistakes?.(config, upstreams, disabledServers)) ?? [];
  if (mistakes.length > 0) {
    throw reportMistakes(
      mistakes.map((mistake) => ({ ...mistake, part: 'value' as const })),
      ({ path, part }) => placed(path, part),
    );
  }
  return {
    config,
    ...omitUndefined({ file: search.found?.file, fileOrigin: search.found?.origin }),
    searched: search.searched,
    format: source?.format ?? 'codemode',
    origins: merged.origins,
    fromEnvironment,
    variables: source?.variables ?? new Map(),
    upstreams,
    disabledServers,
    warnings: [...search.warnings, ...(source?.warnings ?? []), ...broken.warnings(), ...telemetry.warnings],
    placeOf: (path) => placed(path, 'value'),
  };
}

/** The file is read once, so the parsed bytes are the bytes whose digest was trusted. */
async function readDocument(
  { file, origin }: FoundFile,
  { ownFile }: Search,
  { environment, confirmTrust }: LoadRequest,
): Promise<ConfigDocument> {
  const read = await readConfigText(file).catch((error: unknown) => {
    if (origin !== 'environment' || !isHostError(error, 'bad_config')) throw error;
    throw new HostError('bad_config', `CODEMODE_CONFIG: ${error.message}`, { cause: error });
  });
  const document = file.endsWith('.toml') ? parseTomlDocument(read.text, file) : parseYaml(read.text, file);
  if (origin === 'project')
    await requireTrust({ file, ...read, value: document.value, ownFile }, environment, confirmTrust);
  return document;
}

/** The checked settings. Servers with mistakes are replaced by disabled entries. */
function checked(
  merged: Merged,
  source: Source | undefined,
  broken: BrokenServers,
  fromEnvironment: ReadonlySet<string>,
): Config {
  for (;;) {
    const value = broken.without(merged.value);
    const parsed = configSchema.safeParse(value);
    if (parsed.success) {
      // Their names stay taken, so that rules, capabilities and listings that name them keep their meaning.
      const names = Object.keys((merged.value.mcpServers ?? {}) as object).filter((name) => broken.ids.has(name));
      const held = Object.fromEntries(names.map((name) => [name, disabledEntry()]));
      return { ...parsed.data, mcpServers: { ...parsed.data.mcpServers, ...held } };
    }
    const mistakes = mistakesOf(parsed.error, value, fromEnvironment);
    const place = (mistake: Mistake) => placeOf(mistake, merged, source);
    const written = (path: KeyPath) => writtenPath(path, merged, source);
    if (mistakes.some(({ path }) => serverOf(path) === undefined)) throw reportMistakes(mistakes, place, written);
    for (const mistake of mistakes)
      broken.add(serverOf(mistake.path) as string, {
        place: place(mistake),
        key: renderPath(written(mistake.path)),
        problem: mistake.problem,
      });
  }
}
