import type { GuardedCall, SyscallPolicy } from './seccomp.js';
import type { SyscallName } from './syscall-numbers.js';

/**
 * The list of a worker, opened as far as an ordinary program needs that has a workspace to write to and may start
 * processes: files, signals, children, pipes. No sockets but pairs, no namespaces, and no memory that nobody counts.
 *
 * Signals and waiting reach the processes of the same jail only, since it is a process namespace of its own.
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

/** All file systems but the workspace are read-only, so a path is not worth a look. */
// biome-ignore format: a line per subject
const OPENED: readonly SyscallName[] = [
  'openat', 'open', 'mkdir', 'mkdirat', 'rmdir', 'unlink', 'unlinkat', 'rename', 'renameat', 'renameat2',
  'link', 'linkat', 'symlink', 'symlinkat', 'chmod', 'fchmod', 'fchmodat', 'utime', 'utimes', 'utimensat', 'umask',
  'pwrite64', 'preadv', 'pwritev', 'ftruncate', 'truncate', 'fallocate', 'fsync', 'fdatasync', 'msync', 'fadvise64',
  'sendfile', 'copy_file_range', 'flock', 'chdir', 'fchdir', 'statfs', 'fstatfs',
  'dup', 'dup2', 'dup3', 'pipe', 'close_range', 'select', 'pselect6', 'epoll_create', 'epoll_pwait2',
  // Children, as many as RLIMIT_NPROC lets them be. All die with the first process of the namespace.
  'fork', 'vfork', 'wait4', 'waitid', 'kill', 'tkill', 'getpgid', 'setpgid', 'getpgrp', 'getsid', 'setsid',
  'getresuid', 'getresgid', 'getgroups', 'times', 'getcpu', 'membarrier', 'setrlimit',
  'alarm', 'setitimer', 'getitimer', 'pause', 'rt_sigsuspend', 'rt_sigtimedwait', 'rt_sigpending',
  // Over the pairs below and the channel. Not sendmsg: nobody is to be handed descriptors.
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
  // asyncio wakes its loop through one, and Node gives them to children as their output. A pair leads nowhere else.
  { call: 'socketpair', anyOf: [[{ argument: 0, equals: AF_UNIX }]], otherwise: { errno: EPERM } },
  {
    // Shared and anonymous: such memory is on no account, RLIMIT_DATA does not see it, and it may be kept while it is
    // mapped nowhere. What is mapped from a file of the workspace counts there.
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
