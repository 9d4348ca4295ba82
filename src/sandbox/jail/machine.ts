import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import type { FilterArchitecture } from './seccomp.js';

/** The facilities of this machine for building a jail. Read once and passed to the builders, which look at nothing else. */
export interface Machine {
  readonly isLinux: boolean;
  readonly architecture: FilterArchitecture | undefined;
  readonly kernel: string;
  /** Linux 5.14: RLIMIT_NPROC is counted per user namespace, not only per user of the whole machine. */
  readonly countsProcessesPerNamespace: boolean;
  readonly isRoot: boolean;
  /** Uids for workers, if the host is root and may change its uid. */
  readonly workerUids: UidRange | undefined;
  readonly hardLimits: HardLimits;
  /** Address space that V8 reserves for machine code. RLIMIT_DATA counts it although it is unused. */
  readonly codeReserveBytes: number;
  readonly tools: Readonly<Partial<Record<ToolName, string>>>;
}

export interface UidRange {
  readonly first: number;
  readonly count: number;
}

/** The finite hard limits of this process: only a privileged process could raise them. */
export type HardLimits = ReadonlyMap<string, number>;

const TOOL_NAMES = [
  'bwrap',
  'unshare',
  'setpriv',
  'prlimit',
  'sh',
  'mount',
  'umount',
  'pivot_root',
  'mkdir',
  'ln',
  'rm',
  'hostname',
] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

/** Not PATH: a process that can change our PATH must not choose the program that builds the jail. */
const TOOL_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/run/current-system/sw/bin', '/usr/local/bin'];

export function readMachine(): Machine {
  const isLinux = process.platform === 'linux';
  const isRoot = process.getuid?.() === 0;
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return {
    isLinux,
    architecture: process.arch === 'x64' || process.arch === 'arm64' ? process.arch : undefined,
    kernel: release(),
    countsProcessesPerNamespace: major > 5 || (major === 5 && minor >= 14),
    isRoot,
    workerUids: isRoot ? chooseUids(readText('/proc/self/uid_map'), readText('/proc/self/gid_map')) : undefined,
    hardLimits: parseHardLimits(readText('/proc/self/limits') ?? ''),
    codeReserveBytes: codeReserve(readText('/proc/self/maps') ?? ''),
    tools: isLinux ? findTools() : {},
  };
}

/**
 * A hundred million uids that no distribution, systemd or subuid default assigns, so that each worker is its own user: it shares
 * no process count with other workers and cannot signal them. In a container with a small id map, the upper end of that map
 * instead.
 */
export function chooseUids(uidMap: string | undefined, gidMap: string | undefined): UidRange | undefined {
  const wide = { first: 2_000_000_000, count: 100_000_000 };
  const [uids, gids] = [largestRange(uidMap), largestRange(gidMap)];
  if (uids === undefined || gids === undefined) return undefined;
  const end = Math.min(uids.first + uids.count, gids.first + gids.count);
  const start = Math.max(uids.first, gids.first);
  if (start <= wide.first && end >= wide.first + wide.count) return wide;
  // Below the last two: 65534 and 65535 are "nobody" and "unknown" in a map of the usual size.
  const narrow = { first: end - 2 - NARROW_UID_COUNT, count: NARROW_UID_COUNT };
  return narrow.first >= Math.max(start, FIRST_ORDINARY_UID) ? narrow : undefined;
}

const NARROW_UID_COUNT = 4_000;
const FIRST_ORDINARY_UID = 10_000;

function largestRange(map: string | undefined): UidRange | undefined {
  const ranges = (map ?? '').split('\n').flatMap((line) => {
    const [inside, , count] = line.trim().split(/\s+/).map(Number);
    return inside === undefined || count === undefined ? [] : [{ first: inside, count }];
  });
  return ranges.sort((a, b) => b.count - a.count)[0];
}

export function parseHardLimits(text: string): HardLimits {
  const limits = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, hard] = /^(Max .*?)\s{2,}\S+\s+(\d+)\s/.exec(line) ?? [];
    if (name !== undefined && hard !== undefined) limits.set(name, Number(hard));
  }
  return limits;
}

/**
 * Node 24 maps all 512 MB that its machine code may take as writable, Node 20 and 22 map it as inaccessible. This is read from our
 * own process, since the workers run the same Node. If it were not added, Node 24 would not start below 600 MB.
 */
export function codeReserve(maps: string): number {
  const sizes = [...maps.matchAll(/^([0-9a-f]+)-([0-9a-f]+) rwxp/gm)].map(
    ([, from = '0', to = '0']) => Number.parseInt(to, 16) - Number.parseInt(from, 16),
  );
  return sizes.some((bytes) => bytes > V8_CODE_RANGE_BYTES / 2) ? V8_CODE_RANGE_BYTES : 0;
}

const V8_CODE_RANGE_BYTES = 512 * 1024 * 1024;

function findTools(): Partial<Record<ToolName, string>> {
  const found: Partial<Record<ToolName, string>> = {};
  for (const name of TOOL_NAMES) {
    const path = TOOL_FOLDERS.map((folder) => join(folder, name)).find((candidate) => existsSync(candidate));
    // busybox selects its command by the name it is called with, so a link to it is not resolved.
    if (path !== undefined) found[name] = realpathSync(path).endsWith(`/${name}`) ? realpathSync(path) : path;
  }
  return found;
}

/** A small text file of the kernel or the distribution; undefined if it cannot be read. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
