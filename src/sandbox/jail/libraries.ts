import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';

/** The files that a program needs to start: its loader, under the path written in the program, and its shared libraries. */
export interface Linkage {
  /** Path of the dynamic loader as the program names it; undefined for a static program. */
  readonly loader: string | undefined;
  /** The real file behind that path. */
  readonly loaderFile: string | undefined;
  /** File name that the loader looks for, and the real file behind it. */
  readonly libraries: readonly { readonly name: string; readonly path: string }[];
}

const LIST_TIMEOUT_MS = 10_000;
const MAX_LIST_BYTES = 1024 * 1024;

/**
 * Asks the loader itself (`ld.so --list`, both glibc and musl), which knows about caches, run paths and CPU variants that a parser
 * of the file would have to guess. Only for files that we ship or run anyway, never for a guest's.
 *
 * `addons` are shared objects that the program may load later. All are listed at once: Python has forty, and asking for each would
 * take a process each. An addon may need a library that this machine lacks. It then fails when it is loaded.
 */
export function readLinkage(program: string, loaderForLibraries?: string, addons: readonly string[] = []): Linkage {
  const loader = readLoader(program) ?? loaderForLibraries;
  if (loader === undefined) return { loader, loaderFile: undefined, libraries: [] };
  const text = execFileSync(loader, ['--list', program], {
    env: addons.length === 0 ? {} : { LD_PRELOAD: addons.join(':') },
    encoding: 'utf8',
    timeout: LIST_TIMEOUT_MS,
    maxBuffer: MAX_LIST_BYTES,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { loader, loaderFile: realpathSync(loader), libraries: parseLibraryList(text, addons.length > 0) };
}

/** Lines such as `libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x...)`. The lines of the loader and the vdso have no arrow. */
export function parseLibraryList(text: string, mayMiss = false): { name: string; path: string }[] {
  return text.split('\n').flatMap((line) => {
    const [, name, target] = /^\s*(\S+) => (.+?)(?: \(0x[0-9a-f]+\))?\s*$/.exec(line) ?? [];
    if (name === undefined || target === undefined) return [];
    if (!target.startsWith('/') && mayMiss) return [];
    if (!target.startsWith('/')) throw new Error(`the shared library ${name} is missing on this machine`);
    return [{ name: basename(name), path: realpathSync(target) }];
  });
}

export function isElf(path: string): boolean {
  return readStart(path, 4).equals(ELF_MAGIC);
}

const ELF_MAGIC = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);
const ELF_64 = 2;
const PROGRAM_HEADER_INTERPRETER = 3;
/** Linkers put the program headers right behind the file header. A few kilobytes hold both, and the path. */
const ELF_START_BYTES = 64 * 1024;

/** The PT_INTERP entry of a 64-bit little-endian ELF file: the only part of the format that we need. */
function readLoader(path: string): string | undefined {
  const start = readStart(path, ELF_START_BYTES);
  if (start.length < 64 || !start.subarray(0, 4).equals(ELF_MAGIC) || start[4] !== ELF_64) {
    throw new Error(`${path} is not a 64-bit ELF program`);
  }
  const tableOffset = Number(start.readBigUInt64LE(32));
  const entryBytes = start.readUInt16LE(54);
  const entries = start.readUInt16LE(56);
  for (let entry = 0; entry < entries; entry += 1) {
    const offset = tableOffset + entry * entryBytes;
    if (start.readUInt32LE(offset) !== PROGRAM_HEADER_INTERPRETER) continue;
    const from = Number(start.readBigUInt64LE(offset + 8));
    const bytes = Number(start.readBigUInt64LE(offset + 32));
    return start.toString('utf8', from, from + bytes - 1);
  }
  return undefined;
}

function readStart(path: string, bytes: number): Buffer {
  const descriptor = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(bytes);
    return buffer.subarray(0, readSync(descriptor, buffer, 0, bytes, 0));
  } finally {
    closeSync(descriptor);
  }
}
