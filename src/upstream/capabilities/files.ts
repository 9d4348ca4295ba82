import { constants, type FileHandle, open, readdir, readlink } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute } from 'node:path';
import type { FilesystemCapability } from '../../domain/capability.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import { realPathOf } from '../../lib/files/real-path.js';
import { coversPath } from '../../lib/host-and-path-match.js';
import type { NativeCallContext, NativeTool } from '../native/native-upstream.js';

/** The server under which programs reach files. A user's server cannot have a slash in its name. */
export const FILES_SERVER = 'codemode/filesystem';

const MAX_ENTRIES = 10_000;
/** Non-blocking: opening a pipe without a writer would wait forever. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK;
const WRITE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;

const path = { type: 'string', description: 'absolute' };

const UTF8 = ['utf8', 'utf-8', 'UTF8', 'UTF-8'] as const;
/** The same names as in Node. */
const ENCODINGS = [...UTF8, 'ascii', 'latin1', 'binary', 'base64', 'base64url', 'hex', 'utf16le'] as const;

/** An encoding name, or options as in Node's `fs`. */
function encodingIn(names: readonly string[]): JsonObject {
  const name: JsonObject = { enum: [...names] };
  return { anyOf: [name, { type: 'object', properties: { encoding: name }, additionalProperties: false }] };
}

function encodingOf(given: JsonValue | undefined): BufferEncoding {
  const name = isJsonObject(given) ? given.encoding : given;
  return (name ?? 'utf8') as BufferEncoding;
}

/**
 * Files that the run was granted. The check applies to the opened file, by the path the kernel reports. So a link, `..` or a folder
 * swapped between check and use leads nowhere else.
 */
export const fileTools: Readonly<Record<string, NativeTool>> = {
  readFile: {
    description: 'The text of a file that the request was granted.',
    inputSchema: {
      type: 'object',
      properties: { path, encoding: encodingIn(ENCODINGS) },
      required: ['path'],
      additionalProperties: false,
    },
    // A file is always text: the program parses JSON itself.
    outputSchema: { type: 'string' },
    execute: ({ path, encoding }, context) =>
      readFile(String(path), granted(context, String(path)), encodingOf(encoding)),
  },
  writeFile: {
    description: 'Writes a whole file below a folder that the request was granted for writing.',
    inputSchema: {
      type: 'object',
      // Only text: a person must be able to read what they approve.
      properties: { path, text: { type: 'string' }, encoding: encodingIn(UTF8) },
      required: ['path', 'text'],
      additionalProperties: false,
    },
    annotations: { destructiveHint: true },
    execute: ({ path, text }, context) => writeFile(String(path), String(text), granted(context, String(path))),
  },
  listFolder: {
    description: 'Names and kinds of what is in a folder that the request was granted.',
    inputSchema: { type: 'object', properties: { path }, required: ['path'], additionalProperties: false },
    execute: ({ path }, context) => listFolder(String(path), granted(context, String(path))),
  },
};

function granted({ grants }: NativeCallContext, path: string): FilesystemCapability {
  if (!isAbsolute(path) || path.includes('\0'))
    throw new Error(`${JSON.stringify(path.slice(0, 200))} is not an absolute path`);
  if (grants?.filesystem === undefined) throw ungranted(path);
  return grants.filesystem;
}

async function readFile(path: string, grant: FilesystemCapability, encoding: BufferEncoding): Promise<string> {
  checkExtension(path, grant);
  return withOpened(path, READ, grant, async (file, real) => {
    checkExtension(real, grant);
    const state = await file.stat();
    if (!state.isFile()) throw new Error(`${path} is not a file`);
    if (state.size > grant.maxFileBytes) throw tooLarge(path, state.size, grant);
    const text = await readBounded(file, grant.maxFileBytes, encoding);
    if (text === undefined) throw tooLarge(path, grant.maxFileBytes + 1, grant);
    return text;
  });
}

/** Opens the folder and checks its grant first. The file is created in that opened folder, even if the folder is moved afterwards. */
async function writeFile(path: string, text: string, grant: FilesystemCapability): Promise<JsonObject> {
  if (grant.isReadOnly) throw new Error(`the request was not granted filesystem:${path} for writing`);
  const bytes = Buffer.byteLength(text);
  if (bytes > grant.maxFileBytes) throw tooLarge(path, bytes, grant);
  checkExtension(path, grant);
  const name = basename(path);
  if (name === '' || name === '.' || name === '..') throw new Error(`${path} names no file`);
  return withOpened(dirname(path), FOLDER, grant, async (folder) => {
    const file = await open(`/proc/self/fd/${folder.fd}/${name}`, WRITE, 0o600).catch(
      (error: NodeJS.ErrnoException) => {
        throw new Error(
          error.code === 'ELOOP' ? `${path} is a link, which is not followed` : readable(path, error.code),
        );
      },
    );
    try {
      if (!(await file.stat()).isFile()) throw new Error(`${path} is not a file`);
      await file.writeFile(text);
    } finally {
      await file.close();
    }
    return { bytes };
  });
}

async function listFolder(path: string, grant: FilesystemCapability): Promise<JsonObject> {
  return withOpened(path, FOLDER, grant, async (folder) => {
    const found = await readdir(`/proc/self/fd/${folder.fd}`, { withFileTypes: true });
    const entries = found.slice(0, MAX_ENTRIES).map((entry) => ({
      name: entry.name,
      kind: entry.isDirectory() ? 'folder' : entry.isFile() ? 'file' : 'other',
    }));
    return { entries, isCut: found.length > entries.length };
  });
}

async function withOpened<T>(
  path: string,
  flags: number,
  grant: FilesystemCapability,
  use: (file: FileHandle, real: string) => Promise<T>,
): Promise<T> {
  // Also checked before opening: opening some devices has side effects, and the existence of ungranted files must not be revealed.
  if (!isGranted(realPathOf(path), grant)) throw ungranted(path);
  const file = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    throw new Error(readable(path, error.code));
  });
  try {
    const real = await readlink(`/proc/self/fd/${file.fd}`);
    if (!isGranted(real, grant)) throw ungranted(path);
    return await use(file, real);
  } finally {
    await file.close();
  }
}

/**
 * A granted folder may itself be a link. Its target is then granted, if the target is within the folders of the token and the
 * configuration.
 */
function isGranted(real: string, { paths, within = [] }: FilesystemCapability): boolean {
  return [paths, ...within].every((folders) => folders.some((folder) => coversPath(realPathOf(folder), real)));
}

/** Limits the bytes actually read, not the reported file size: the file may grow in the meantime, or have no size. */
async function readBounded(file: FileHandle, maxBytes: number, encoding: BufferEncoding): Promise<string | undefined> {
  const buffer = Buffer.alloc(maxBytes + 1);
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, bytes, buffer.length - bytes);
    if (bytesRead === 0) return buffer.toString(encoding, 0, bytes);
    bytes += bytesRead;
    if (bytes > maxBytes) return undefined;
  }
}

function checkExtension(path: string, { extensions }: FilesystemCapability): void {
  if (extensions !== undefined && !extensions.includes(extname(path)))
    throw new Error(
      `only files that end in ${extensions.join(', ')} were granted: the request was not granted ${ofExtension(path)}`,
    );
}

/** Names a file that is not granted because of its extension. */
export function ofExtension(path: string): string {
  const extension = extname(path);
  return `filesystem:${path} ${extension === '' ? 'without an extension' : `with the extension ${extension}`}`;
}

function ungranted(path: string): Error {
  return new Error(`the request was not granted filesystem:${path}`);
}

function tooLarge(path: string, bytes: number, { maxFileBytes }: FilesystemCapability): Error {
  return new Error(`${path} has ${bytes} bytes, and files may have at most ${maxFileBytes}`);
}

function readable(path: string, code: string | undefined): string {
  const why: Record<string, string> = {
    ENOENT: 'does not exist',
    EACCES: 'may not be read or written by codemode',
    EISDIR: 'is a folder',
    ENOTDIR: 'is not a folder',
    ENXIO: 'is not a file',
  };
  return `${path} ${why[code ?? ''] ?? `cannot be used (${code ?? 'unknown reason'})`}`;
}
