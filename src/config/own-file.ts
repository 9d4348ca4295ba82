import { constants } from 'node:fs';
import { copyFile, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { HostError } from '../domain/errors.js';
import { makeFolder } from '../lib/make-folder.js';
import { writeWhole } from '../lib/write-whole.js';
import type { Environment } from './environment.js';
import { findConfigFile } from './find-file.js';
import { type GitPlace, gitPlaceOf } from './git-folder.js';
import { MAX_CONFIG_BYTES, readConfigFile } from './read-file.js';
import { configFolder } from './user-folders.js';

/** A configuration of ours that shall be written or changed. */
export interface OwnFile {
  readonly file: string;
  /** `project`: `./codemode.config.*`, which is used only once its commands were agreed to. */
  readonly kind: 'user' | 'project' | 'named';
  /** What is in it; undefined where there is no such file. */
  readonly text?: string;
  readonly git?: GitPlace;
  /** Whether others may get to see it. */
  readonly isShared: boolean;
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

/** The file that a first configuration is written to: the named one, the project's, or the user's own. */
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

/** The file that servers are added to and removed from: the one that is in use here, else the user's own. */
export async function fileToChange(request: OwnFileRequest): Promise<OwnFile> {
  const { named, isProject, cwd, environment } = request;
  if (isProject) return fileToWrite(request);
  const { found } = await findConfigFile({
    cwd,
    environment,
    ...(named === undefined ? {} : { configFile: named }),
    ...(request.projectFolder === undefined ? {} : { projectFolder: request.projectFolder }),
  });
  return found === undefined ? fileToWrite(request) : lookAt(found.file, request);
}

async function lookAt(file: string, { cwd, projectFolder, named }: OwnFileRequest): Promise<OwnFile> {
  if (!/\.(ya?ml|json)$/.test(file))
    throw new HostError('bad_input', `${file} must end in .yaml, .yml or .json to be read as a configuration`);
  const isProject = dirname(file) === resolve(cwd, projectFolder ?? '') && PROJECT_NAME.test(basename(file));
  const text = await textOf(file);
  const git = await gitPlaceOf(await realPlace(file));
  return {
    file,
    kind: isProject ? 'project' : named === undefined ? 'user' : 'named',
    ...(text === undefined ? {} : { text }),
    ...(git === undefined ? {} : { git }),
    isShared: isProject || git !== undefined,
  };
}

/** The one that is there, in the order in which they are looked for; else the YAML. */
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
  if (!found.isFile()) throw new HostError('bad_input', `${file} exists and is no ordinary file; name another`);
  const isBlank = found.size <= MAX_CONFIG_BYTES && (await readFile(file, 'utf8').catch(() => 'x')).trim() === '';
  return isBlank ? '' : readConfigFile(file);
}

/** Where the bytes lie: a configuration is often a link into a folder that git keeps. */
async function realPlace(file: string): Promise<string> {
  const real = await realpath(file).catch(() => undefined);
  if (real !== undefined) return real;
  const folder = await realpath(dirname(file)).catch(() => dirname(file));
  return join(folder, basename(file));
}

/** Writes a file that was not there. Readable by its owner alone: servers come with secrets. */
export async function writeNew({ file, kind }: OwnFile, text: string): Promise<void> {
  try {
    if (kind === 'user') await makeFolder(dirname(file), 0o700);
    await writeWhole(file, text, { mode: 0o600, replaces: false });
  } catch (error) {
    throw couldNotWrite(file, error);
  }
}

/** Replaces a file whole or not at all, and keeps its rights. Gives the copy of what was there, if one was wanted. */
export async function writeOver(
  { file, text: before }: OwnFile,
  text: string,
  { keepsCopy }: { readonly keepsCopy: boolean },
): Promise<string | undefined> {
  try {
    // Through a link, the file that it leads to is replaced, not the link.
    const target = await realpath(file);
    const { mode } = await stat(target);
    if ((await readFile(target, 'utf8')).trim() !== (before ?? '').trim())
      throw new HostError(
        'bad_input',
        `${file} was changed by another program meanwhile; nothing was written, try again`,
      );
    const copy = keepsCopy ? await copyAside(target) : undefined;
    await writeWhole(target, text, { mode: mode & 0o777, replaces: true });
    return copy;
  } catch (error) {
    if (error instanceof HostError) throw error;
    throw couldNotWrite(file, error);
  }
}

/** `FILE.bak`, or with a number where that is taken by something else: an older copy is not lost for a newer one. */
async function copyAside(file: string): Promise<string> {
  const current = await readFile(file);
  for (let number = 0; ; number += 1) {
    const copy = number === 0 ? `${file}.bak` : `${file}.bak.${number}`;
    const there = await readFile(copy).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (there?.equals(current)) return copy;
    if (there !== undefined) continue;
    await copyFile(file, copy, constants.COPYFILE_EXCL);
    return copy;
  }
}

function couldNotWrite(file: string, error: unknown): HostError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST')
    return new HostError('bad_input', `${file} was written by another program meanwhile; try again`);
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
