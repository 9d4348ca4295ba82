import { access, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { HostError } from '../../domain/errors.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { Environment } from '../variables/environment.js';
import { configFolder, expandHome, homeFolder } from './user-folders.js';

const EXTENSIONS = ['yaml', 'yml', 'json'] as const;
/** A configuration in the current folder. */
export const PROJECT_FILE = /^codemode\.config\.(ya?ml|json)$/;

/**
 * The origin of the configuration file. `flag`, `environment`, `user` and `proxy` are the user's own choice or the user's own file.
 * `project` is a file that happens to be in the folder and may be anybody's.
 */
export type FileOrigin = 'flag' | 'environment' | 'project' | 'user' | 'proxy';

/** One place where a configuration is searched for, and the result. */
export interface SearchedPlace {
  readonly place: string;
  readonly state: 'used' | 'not set' | 'not found' | 'not searched' | 'read with --profile code_execution, or --config';
}

export interface FoundFile {
  readonly file: string;
  readonly origin: FileOrigin;
}

export interface Search {
  readonly found?: FoundFile;
  readonly searched: readonly SearchedPlace[];
  /** The user's own file, even if another one takes precedence. */
  readonly ownFile?: string;
  readonly warnings: readonly string[];
}

export interface SearchRequest {
  /** `--config FILE`. */
  readonly configFile?: string;
  /** `--project-folder FOLDER`: searched for a project's file instead of `cwd`. The file still needs trust. */
  readonly projectFolder?: string;
  /** Whether to use the file that mcpproxy keeps in the home folder, if none of the usual places has one. */
  readonly takesProxyFile?: boolean;
  readonly cwd: string;
  readonly environment: Environment;
}

/**
 * `--config`, else `CODEMODE_CONFIG`, else `./codemode.config.*`, else the user's own file. A folder named on the command line
 * takes precedence over the variable. Reads nothing. Throws `bad_input` if both a file and a folder are named.
 */
export async function findConfigFile(request: SearchRequest): Promise<Search> {
  const { configFile, projectFolder, cwd, environment } = request;
  if (configFile !== undefined && projectFolder !== undefined)
    throw new HostError('bad_input', 'give --config, which names a file, or --project-folder, not both');
  const named = (file: string) => resolve(cwd, expandHome(file, environment));
  // Empty means unset, as for all our variables.
  const variable = environment.CODEMODE_CONFIG === '' ? undefined : environment.CODEMODE_CONFIG;
  const ownStem = join(configFolder(environment), 'config');
  const folder = projectFolder === undefined ? cwd : named(projectFolder);
  const project = await findVariant(join(folder, 'codemode.config'));
  const own = await findVariant(ownStem);
  const proxyFile = join(homeFolder(environment), '.mcpproxy', 'mcp_config.json');
  const isProxyFileThere = await exists(proxyFile);
  const hasProxyFile = request.takesProxyFile === true && isProxyFileThere;
  const ownFile = own.file ?? (hasProxyFile ? proxyFile : undefined);

  const inVariable: Place = {
    place: 'CODEMODE_CONFIG',
    absent: 'not set',
    found: variable === undefined ? undefined : { file: named(variable), origin: 'environment' },
  };
  const inProject: Place = {
    place: anyOf(join(folder, 'codemode.config')),
    absent: 'not found',
    found: project.file === undefined ? undefined : await ofProject(project.file, folder, environment),
  };
  const places: Place[] = [
    {
      place: '--config',
      absent: 'not set',
      found: configFile === undefined ? undefined : { file: named(configFile), origin: 'flag' },
    },
    ...(projectFolder === undefined ? [inVariable, inProject] : [inProject, inVariable]),
    {
      place: anyOf(ownStem),
      absent: 'not found',
      found: own.file === undefined ? undefined : { file: own.file, origin: 'user' },
    },
    ...(request.takesProxyFile === true
      ? [
          {
            place: proxyFile,
            absent: 'not found' as const,
            found: hasProxyFile ? { file: proxyFile, origin: 'proxy' as const } : undefined,
          },
        ]
      : []),
  ];
  const used = places.find(({ found }) => found !== undefined);
  const at = used === undefined ? places.length : places.indexOf(used);
  const { found } = used ?? {};
  return {
    ...omitUndefined({ found, ownFile }),
    searched: [
      ...places.map(({ place, absent }, index): SearchedPlace => {
        return { place, state: index < at ? absent : index === at ? 'used' : 'not searched' };
      }),
      // It belongs to another contract, so the message says how it is used.
      ...(found === undefined && isProxyFileThere
        ? [{ place: proxyFile, state: 'read with --profile code_execution, or --config' } as const]
        : []),
    ],
    // A file that the user named was meant, whatever is beside it.
    warnings: (found?.origin === 'flag' || found?.origin === 'environment' ? [] : [project, own])
      .filter(({ file }) => file !== undefined && file === found?.file)
      .flatMap(({ file, ignored }) => ignored.map((other) => `${other} is not read, because ${file} is beside it`)),
  };
}

interface Place {
  readonly place: string;
  readonly absent: 'not set' | 'not found';
  readonly found?: FoundFile | undefined;
}

/** The configurations of one folder. The one in use comes first. */
export async function projectFiles(folder: string): Promise<string[]> {
  const { file, ignored } = await findVariant(join(folder, 'codemode.config'));
  return file === undefined ? [] : [file, ...ignored];
}

/** Only the user writes in the user's own configuration folder: a file there is the user's, whatever its name. */
async function ofProject(file: string, folder: string, environment: Environment): Promise<FoundFile> {
  const [here, own] = await Promise.all(
    [folder, configFolder(environment)].map((each) => realpath(each).catch(() => '')),
  );
  return { file, origin: here !== '' && here === own ? 'user' : 'project' };
}

async function findVariant(stem: string): Promise<{ readonly file?: string; readonly ignored: readonly string[] }> {
  const found: string[] = [];
  for (const extension of EXTENSIONS) if (await exists(`${stem}.${extension}`)) found.push(`${stem}.${extension}`);
  const [file, ...ignored] = found;
  return { ...omitUndefined({ file }), ignored };
}

function anyOf(stem: string): string {
  return `${stem}.{${EXTENSIONS.join(',')}}`;
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
}
