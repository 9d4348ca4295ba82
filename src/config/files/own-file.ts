import { constants } from 'node:fs';
import { copyFile, lstat, realpath, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { HostError } from '../../domain/errors.js';
import { makeFolder } from '../../lib/files/make-folder.js';
import { readRegularFile, UnreadableFile } from '../../lib/files/read-regular-file.js';
import { writeWhole } from '../../lib/files/write-whole.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { Environment } from '../variables/environment.js';
import { findConfigFile } from './find-file.js';
import { type GitPlace, gitPlaceOf } from './git-folder.js';
import { pruneCopies } from './prune-copies.js';
import { MAX_CONFIG_BYTES, readConfigFile } from './read-file.js';
import { stateFolder } from './state-folder.js';
import { configFolder, isInside, realPath } from './user-folders.js';

/** A configuration file of ours to write or change. */
export interface OwnFile {
  readonly file: string;
  /** `project`: `./codemode.config.*`, which is used only after a person has agreed to its commands. */
  readonly kind: 'user' | 'project' | 'named';
  /** Its content; undefined if the file does not exist. */
  readonly text?: string;
  readonly git?: GitPlace;
  /** Whether other people may see it. */
  readonly isShared: boolean;
  /** The folder for its copies. If undefined, copies are kept beside it. */
  readonly copyFolder?: string;
}

export interface WriteOverOptions {
  readonly keepsCopy: boolean;
  /** Server values are added that may be secrets: nobody else may read the file from now on. */
  readonly isPrivate?: boolean;
}

export interface WrittenOver {
  readonly copy?: string;
  /** The earlier mode of the file, if others could read it and no longer can. */
  readonly modeBefore?: number;
}

export interface OwnFileRequest {
  /** `--config`, `--output` */
  readonly named?: string;
  /** `--project-folder` */
  readonly projectFolder?: string;
  readonly isProject: boolean;
  readonly cwd: string;
  readonly environment: Environment;
}

const EXTENSIONS = ['yaml', 'yml', 'json'];
const PROJECT_NAME = /^codemode\.config\.(ya?ml|json)$/;

/** The file for a first configuration: the named one, the project's, or the user's own. */
export async function fileToWrite(request: OwnFileRequest): Promise<OwnFile> {
  const { named, isProject, cwd, environment } = request;
  if (named !== undefined) return lookAt(resolve(cwd, named), request);
  return lookAt(
    await firstOf(
      isProject
        ? join(resolve(cwd, request.projectFolder ?? ''), 'codemode.config')
        : join(configFolder(environment), 'config'),
    ),
    request,
  );
}

/** The file to add servers to and remove servers from: the one in use here, else the user's own. */
export async function fileToChange(request: OwnFileRequest): Promise<OwnFile> {
  const { named, isProject, cwd, environment } = request;
  if (isProject) return fileToWrite(request);
  const { found } = await findConfigFile({
    cwd,
    environment,
    ...omitUndefined({ configFile: named, projectFolder: request.projectFolder }),
  });
  return found === undefined ? fileToWrite(request) : lookAt(found.file, request);
}

async function lookAt(file: string, { cwd, projectFolder, named, environment }: OwnFileRequest): Promise<OwnFile> {
  if (!/\.(ya?ml|jsonc?)$/.test(file))
    throw new HostError('bad_input', `${file} must end in .yaml, .yml, .json or .jsonc to be read as a configuration`);
  const folder = resolve(cwd, projectFolder ?? '');
  const isProject = dirname(file) === folder && PROJECT_NAME.test(basename(file));
  const place = realPath(file);
  // A project may ship this link.
  if (isProject && (!isInside(place, realPath(folder)) || (await isDeadLink(file))))
    throw new HostError(
      'bad_input',
      `${file} is a link that leads to ${place}, outside this folder or to nothing; nothing was written. Remove the link first.`,
    );
  const text = await textOf(file);
  const git = await gitPlaceOf(place);
  return {
    file,
    kind: isProject ? 'project' : named === undefined ? 'user' : 'named',
    ...omitUndefined({ text, git }),
    isShared: isProject || git !== undefined,
    // Its earlier content may hold secrets, and `git add .` would include a copy beside it.
    ...(git === undefined ? {} : { copyFolder: join(resolve(cwd, stateFolder(environment)), 'copies') }),
  };
}

async function isDeadLink(file: string): Promise<boolean> {
  const found = await lstat(file).catch(() => undefined);
  return found?.isSymbolicLink() === true && (await stat(file).catch(() => undefined)) === undefined;
}

/** The first existing file in search order, else the YAML file. */
async function firstOf(stem: string): Promise<string> {
  for (const extension of EXTENSIONS) {
    const found = await stat(`${stem}.${extension}`).catch(() => undefined);
    if (found !== undefined) return `${stem}.${extension}`;
  }
  return `${stem}.yaml`;
}

async function textOf(file: string): Promise<string | undefined> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new HostError('bad_input', `${file} cannot be written (${error.code ?? error.message})`);
  });
  if (found === undefined) return undefined;
  if (!found.isFile()) throw new HostError('bad_input', `${file} exists and is not a regular file; name another`);
  const isBlank = found.size <= MAX_CONFIG_BYTES && (await readText(file).catch(() => 'x')).trim() === '';
  return isBlank ? '' : readConfigFile(file);
}

/** Writes a new file. Only its owner can read it: servers come with secrets. */
export async function writeNew({ file, kind }: OwnFile, text: string): Promise<void> {
  try {
    if (kind === 'user') await makeFolder(dirname(file), 0o700);
    await writeWhole(file, text, { mode: 0o600, replaces: false });
  } catch (error) {
    throw couldNotWrite(file, error);
  }
}

/** Replaces a file atomically. It keeps its mode, unless values are added that others must not read. */
export async function writeOver(
  { file, text: before, copyFolder }: OwnFile,
  text: string,
  { keepsCopy, isPrivate = false }: WriteOverOptions,
): Promise<WrittenOver> {
  try {
    // If it is a link, its target is replaced, not the link.
    const target = await realpath(file);
    const mode = (await stat(target)).mode & 0o777;
    if ((await readText(target)).trim() !== (before ?? '').trim())
      throw new HostError(
        'bad_input',
        `${file} was changed by another program in the meantime; nothing was written, try again`,
      );
    const copy = keepsCopy ? await copyAside(target, copyFolder) : undefined;
    const isTightened = isPrivate && (mode & 0o077) !== 0;
    await writeWhole(target, text, { mode: isTightened ? mode & 0o700 : mode, replaces: true });
    return { ...omitUndefined({ copy }), ...(isTightened ? { modeBefore: mode } : {}) };
  } catch (error) {
    if (error instanceof HostError) throw error;
    throw couldNotWrite(file, error);
  }
}

/** `FILE.bak`, with a number if that name is taken. The first copy is kept, and the newest few of the later ones. */
async function copyAside(file: string, folder: string | undefined): Promise<string> {
  const current = await readRegularFile(file, MAX_CONFIG_BYTES);
  if (folder !== undefined) await makeFolder(folder, 0o700);
  const stem = folder === undefined ? file : join(folder, basename(file));
  for (let number = 0; ; number += 1) {
    const copy = number === 0 ? `${stem}.bak` : `${stem}.bak.${number}`;
    const there = await readRegularFile(copy, MAX_CONFIG_BYTES).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      if (error instanceof UnreadableFile) return 'something else';
      throw error;
    });
    if (typeof there === 'object' && there.equals(current)) return copy;
    if (there !== undefined) continue;
    if (folder !== undefined) await writeFile(copy, current, { mode: 0o600, flag: 'wx' });
    else await copyFile(file, copy, constants.COPYFILE_EXCL);
    await pruneCopies(copy, `${stem}.bak`);
    return copy;
  }
}

async function readText(file: string): Promise<string> {
  return (await readRegularFile(file, MAX_CONFIG_BYTES)).toString('utf8');
}

function couldNotWrite(file: string, error: unknown): HostError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST')
    return new HostError('bad_input', `${file} was written by another program in the meantime; try again`);
  const why = WRITE_PROBLEMS[code ?? ''] ?? `${code ?? message}; check its folder`;
  return new HostError('bad_input', `${file} could not be written: ${why}`, { cause: error });
}

const WRITE_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist; make it first',
  EACCES: 'you may not write there; check the permissions of its folder',
  EPERM: 'you may not write there; check the permissions of its folder',
  EROFS: 'its disk is mounted read-only; use --output to write elsewhere',
  ENOSPC: 'the disk is full; make room and try again',
  EDQUOT: 'your disk quota is used up; make room and try again',
};
