import { createHash } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Spawn } from './jail.js';

const FILE_NAME = 'jail-tested.json';
/** Two levels, a few users and a few versions of Node. */
const MAX_REMEMBERED = 16;
const MAX_FILE_BYTES = 4096;

/** How the kernel confines this process, and settings that may change without a new program or a reboot. */
const CONFINEMENT_FILES = [
  '/proc/sys/kernel/random/boot_id',
  '/proc/sys/kernel/unprivileged_userns_clone',
  '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
  '/proc/sys/user/max_user_namespaces',
  '/proc/self/attr/current',
  '/proc/self/uid_map',
];
const CONFINEMENT_LINKS = ['/proc/self/ns/user', '/proc/self/ns/mnt', '/proc/self/ns/net', '/proc/self/ns/pid'];
const CONFINEMENT_STATUS =
  /^(?:Uid|Gid|Groups|CapInh|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs|Seccomp|Seccomp_filters):.*$/gm;

/**
 * Jails that passed their self-test on this machine since it booted, so that not every start of the program repeats the test. The
 * file is beside the program and belongs to its owner: a process that can write it can write the program too. If it cannot be read
 * or written, every start tests.
 */
export class TestedJails {
  readonly #folder: string;
  readonly #path: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.#path = join(folder, FILE_NAME);
  }

  has(jail: string): boolean {
    return this.#read().includes(jail);
  }

  add(jail: string): void {
    const draft = `${this.#path}.${process.pid}`;
    try {
      if (statSync(this.#folder).uid !== process.getuid?.()) return;
      const jails = [jail, ...this.#read().filter((each) => each !== jail)].slice(0, MAX_REMEMBERED);
      writeFileSync(draft, JSON.stringify(jails), { flag: 'wx', mode: 0o644 });
      renameSync(draft, this.#path);
    } catch {
      // The folder is not ours, or the disk is full.
    }
  }

  #read(): string[] {
    let descriptor: number | undefined;
    try {
      descriptor = openSync(this.#path, 'r');
      const { uid, mode, size } = fstatSync(descriptor);
      const isTheInstallers = uid === statSync(this.#folder).uid && (mode & 0o022) === 0;
      if (!isTheInstallers || size > MAX_FILE_BYTES) return [];
      const jails: unknown = JSON.parse(readFileSync(descriptor, 'utf8'));
      return Array.isArray(jails) ? jails.filter((each) => typeof each === 'string') : [];
    } catch {
      return [];
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  }
}

/**
 * Identifies a jail as it would be started now: the command that builds it with its filter, the files that it consists of, and how
 * this process itself is confined. A change of any part gives another digest.
 */
export function digestOfJail({ file, args, env, descriptors }: Spawn): string {
  // The uid is left out: each worker gets another.
  const words = [file, ...args].map((word, index, all) => (UID_OPTIONS.has(all[index - 1] ?? '') ? 'uid' : word));
  const paths = [...new Set(words.filter((word) => word.startsWith('/')))];
  const digest = createHash('sha256').update(
    JSON.stringify([words, env, paths.map(identityOf), confinement(), process.version]),
  );
  for (const { fd, content } of descriptors) digest.update(`${fd} ${content.length} `).update(content);
  return digest.digest('hex');
}

const UID_OPTIONS = new Set(['--reuid', '--regid']);

/** A path that exists only inside the jail has no identity. */
function identityOf(path: string): unknown {
  const stats = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  if (stats === undefined) return null;
  const target = stats.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false, bigint: true }) : stats;
  return [stats, target].map((each) => each && [each.dev, each.ino, each.size, each.mtimeNs, each.mode].map(String));
}

function confinement(): unknown {
  const status = textOf('/proc/self/status')?.match(CONFINEMENT_STATUS);
  return [status, CONFINEMENT_FILES.map(textOf), CONFINEMENT_LINKS.map(linkOf)];
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
