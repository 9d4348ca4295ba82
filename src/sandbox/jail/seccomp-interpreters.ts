import type { GuardedCall, SyscallPolicy } from './seccomp.js';
import type { SyscallName } from './syscall-numbers.js';

/**
 * The list of a worker, extended for an ordinary program that has a writable workspace and may start processes: files, signals,
 * children, pipes. No sockets except pairs, no namespaces, and no memory outside all limits.
 *
 * Signals and waiting reach only processes of the same jail, since it has its own process namespace.
 */
export function forRealInterpreters(worker: SyscallPolicy): SyscallPolicy {
  const guardedHere = new Set<SyscallName>(GUARDED.map(({ call }) => call));
  const opened = new Set<SyscallName>(OPENED);
  const isDecidedHere = (name: SyscallName) => guardedHere.has(name) || opened.has(name);
  return {
    allow: [...worker.allow.filter((name) => !isDecidedHere(name)), ...OPENED],
    guarded: [...worker.guarded.filter(({ call }) => !isDecidedHere(call)), ...GUARDED],
    refuse: [...worker.refuse.filter(([name]) => !isDecidedHere(name)), ...REFUSED],
    kill: worker.kill,
    otherwise: worker.otherwise,
  };
}

const EPERM = 1;
const ENOTSUP = 95;

/** All file systems except the workspace are read-only, so paths need no check. */
// biome-ignore format: a line per subject
const OPENED: readonly SyscallName[] = [
  'openat', 'open', 'mkdir', 'mkdirat', 'rmdir', 'unlink', 'unlinkat', 'rename', 'renameat', 'renameat2',
  'link', 'linkat', 'symlink', 'symlinkat', 'chmod', 'fchmod', 'fchmodat', 'utime', 'utimes', 'utimensat', 'umask',
  'pwrite64', 'preadv', 'pwritev', 'ftruncate', 'truncate', 'fallocate', 'fsync', 'fdatasync', 'msync', 'fadvise64',
  'sendfile', 'copy_file_range', 'flock', 'chdir', 'fchdir', 'statfs', 'fstatfs',
  'dup', 'dup2', 'dup3', 'pipe', 'close_range', 'select', 'pselect6', 'epoll_create', 'epoll_pwait2',
  // Children, up to RLIMIT_NPROC. All die with the first process of the namespace.
  'fork', 'vfork', 'wait4', 'waitid', 'kill', 'tkill', 'getpgid', 'setpgid', 'getpgrp', 'getsid', 'setsid',
  'getresuid', 'getresgid', 'getgroups', 'times', 'getcpu', 'membarrier', 'setrlimit',
  'alarm', 'setitimer', 'getitimer', 'pause', 'rt_sigsuspend', 'rt_sigtimedwait', 'rt_sigpending',
  // For the pairs below and the channel. Not sendmsg, which could pass descriptors.
  'sendto', 'recvfrom', 'recvmsg', 'setsockopt', 'getpeername',
];

const CLONE_NAMESPACE_FLAGS = 0x7e020000; // NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET
const CLONE_FOREIGN_FLAGS = 0x0000a000; // PTRACE | PARENT

const AF_UNIX = 1;
const MAP_SHARED = 0x01;
const MAP_ANONYMOUS = 0x20;

const GUARDED: readonly GuardedCall[] = [
  {
    call: 'clone',
    anyOf: [[{ argument: 0, mask: CLONE_NAMESPACE_FLAGS | CLONE_FOREIGN_FLAGS, equals: 0 }]],
    otherwise: { errno: EPERM },
  },
  // asyncio wakes its loop through a pair, and Node uses pairs for the output of children. A pair leads nowhere else.
  { call: 'socketpair', anyOf: [[{ argument: 0, equals: AF_UNIX }]], otherwise: { errno: EPERM } },
  {
    // Shared and anonymous memory is refused: RLIMIT_DATA does not count it, and it may be kept while it is mapped nowhere. Memory
    // mapped from a file of the workspace counts as workspace.
    call: 'mmap',
    anyOf: [0, MAP_SHARED, MAP_ANONYMOUS].map((equals) => [{ argument: 3, mask: MAP_SHARED | MAP_ANONYMOUS, equals }]),
    otherwise: { errno: EPERM },
  },
];

const REFUSED: readonly (readonly [SyscallName, number])[] = [
  // `shutil.copy2` continues without them only after this error.
  ['listxattr', ENOTSUP],
  ['llistxattr', ENOTSUP],
  ['flistxattr', ENOTSUP],
];
