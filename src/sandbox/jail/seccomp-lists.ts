import type { GuardedCall, SyscallPolicy } from './seccomp.js';
import { forRealInterpreters } from './seccomp-interpreters.js';
import type { SyscallName } from './syscall-numbers.js';

/**
 * Selects the list that a worker runs under. `escape` is the QuickJS list, for attack tests that bring their own Node code. `node`
 * and `python` are for agents' programs on the real interpreters, which have a workspace and children. `go-build`, the compiler,
 * has both too. `go` is a compiled program: it has neither, and the list of a worker.
 */
export type JailRuntime = 'quickjs' | 'v8' | 'escape' | 'node' | 'python' | 'go' | 'go-build';

/**
 * The system calls that each runtime may make. Found by strace of Node 20, 22 and 24 doing a worker's work inside the jail, where
 * /proc, /dev and /etc do not exist: so these are fewer calls than Node makes on an open machine.
 */
export function syscallPolicy(runtime: JailRuntime): SyscallPolicy {
  const hasWorkspace = runtime === 'node' || runtime === 'python' || runtime === 'go-build';
  return hasWorkspace ? forRealInterpreters(WORKER_POLICY) : WORKER_POLICY;
}

const EPERM = 1;
const ENOTTY = 25;
const EROFS = 30;
const ENOSYS = 38;

/** A worker in operation: the channel (3), memory, threads, time. */
// biome-ignore format: a line per subject
const RUNNING: readonly SyscallName[] = [
  'futex', 'read', 'write', 'madvise', 'mprotect', 'mmap', 'munmap', 'mremap', 'brk',
  'epoll_pwait', 'epoll_wait', 'epoll_ctl', 'epoll_create1', 'eventfd2', 'pipe2', 'poll', 'ppoll', 'readv', 'writev',
  'clock_gettime', 'clock_getres', 'clock_nanosleep', 'nanosleep', 'gettimeofday', 'getrandom', 'getrusage', 'sched_yield',
  'rt_sigprocmask', 'rt_sigaction', 'rt_sigreturn', 'sigaltstack', 'restart_syscall',
  'close', 'lseek', 'pread64', 'fstat', 'newfstatat', 'statx', 'stat', 'lstat',
  'exit', 'exit_group',
  // abort() and raise(): they signal a thread of this process, and the process namespace holds no other.
  'tgkill', 'gettid', 'getpid',
]; // mmap and mprotect with PROT_EXEC stay open: V8 compiles WebAssembly to machine code, and --jitless cannot run it.

/** Calls that the dynamic loader, libc and Node make once. */
// biome-ignore format: a line per subject
const STARTING: readonly SyscallName[] = [
  // bwrap itself starts the worker after the filter is in place, so this call cannot be closed, and a filter cannot inspect the
  // path behind a pointer. It stays harmless: the jail contains no program except Node (and the loader), nothing in it can be
  // written, memfd_create does not exist, and any started program keeps this filter.
  'execve',
  'arch_prctl', 'set_tid_address', 'set_robust_list', 'rseq', 'access', 'faccessat', 'faccessat2', 'readlink', 'readlinkat',
  'getcwd', 'getdents64', 'uname', 'sysinfo', 'getrlimit', 'getppid',
  // Node checks whether it has more rights than its caller before it trusts the environment.
  'getuid', 'geteuid', 'getgid', 'getegid', 'capget',
  'sched_getaffinity', 'sched_getparam', 'sched_getscheduler',
  // V8 guards its code pages with protection keys if the CPU has them.
  'pkey_alloc', 'pkey_free', 'pkey_mprotect',
];

/** `net.Socket({ fd: 3 })` inspects the socket it was given. None of these calls can create or reach another socket. */
const CHANNEL_AS_STREAM: readonly SyscallName[] = ['getsockopt', 'getsockname', 'shutdown'];

const CLONE_THREAD_FLAGS = 0x00010f00; // VM | FS | FILES | SIGHAND | THREAD
const CLONE_NAMESPACE_FLAGS = 0x7e020000; // NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET
const CLONE_FOREIGN_FLAGS = 0x0000a000; // PTRACE | PARENT

// O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_TMPFILE's own bit; the same numbers on x64 and arm64.
const OPEN_FOR_WRITING = 0x00400243;

const IOCTL_TCGETS = 0x5401;
const IOCTL_TIOCGWINSZ = 0x5413;
const IOCTL_FIONBIO = 0x5421;
const IOCTL_FIOCLEX = 0x5451;
const PRCTL_SET_NAME = 15;
const PRCTL_GET_NAME = 16;
const PRCTL_SET_VMA = 0x53564d41;
// F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC
const FCNTL_COMMANDS = [0, 1, 2, 3, 4, 1030];

const GUARDED: readonly GuardedCall[] = [
  {
    // Threads only. A child process would outlive an exit, and a new namespace would give it capabilities.
    call: 'clone',
    anyOf: [
      [
        {
          argument: 0,
          mask: CLONE_THREAD_FLAGS | CLONE_NAMESPACE_FLAGS | CLONE_FOREIGN_FLAGS,
          equals: CLONE_THREAD_FLAGS,
        },
      ],
    ],
    otherwise: { errno: EPERM },
  },
  // The file systems are read-only already. This is a second layer.
  { call: 'openat', anyOf: [[{ argument: 2, mask: OPEN_FOR_WRITING, equals: 0 }]], otherwise: { errno: EROFS } },
  { call: 'open', anyOf: [[{ argument: 1, mask: OPEN_FOR_WRITING, equals: 0 }]], otherwise: { errno: EROFS } },
  {
    call: 'ioctl',
    anyOf: [IOCTL_TCGETS, IOCTL_TIOCGWINSZ, IOCTL_FIONBIO, IOCTL_FIOCLEX].map((equals) => [{ argument: 1, equals }]),
    otherwise: { errno: ENOTTY },
  },
  {
    // Names for threads and mappings. Not PR_SET_PDEATHSIG: it would undo "dies with the host".
    call: 'prctl',
    anyOf: [PRCTL_SET_NAME, PRCTL_GET_NAME, PRCTL_SET_VMA].map((equals) => [{ argument: 0, equals }]),
    otherwise: { errno: EPERM },
  },
  { call: 'fcntl', anyOf: FCNTL_COMMANDS.map((equals) => [{ argument: 1, equals }]), otherwise: { errno: EPERM } },
  // Its own limits only. It can lower them, and raise them no further than the hard limits that we set.
  { call: 'prlimit64', anyOf: [[{ argument: 0, equals: 0 }]], otherwise: { errno: EPERM } },
];

const REFUSED: readonly (readonly [SyscallName, number])[] = [
  // Not EPERM: glibc takes ENOSYS as "use clone instead", and clone's flags can be tested, clone3's cannot.
  ['clone3', ENOSYS],
  // Node 22 and later try these at start, even under UV_USE_IO_URING=0, and continue without them.
  ['io_uring_setup', ENOSYS],
  ['io_uring_enter', ENOSYS],
  ['io_uring_register', ENOSYS],
  ['fork', EPERM],
  ['vfork', EPERM],
  ['socket', EPERM],
  ['socketpair', EPERM],
  ['kill', EPERM],
];

// biome-ignore format: a line per subject
const KILLED: readonly SyscallName[] = [
  'ptrace', 'process_vm_readv', 'process_vm_writev', 'process_madvise', 'pidfd_getfd', 'kcmp',
  'mount', 'umount2', 'pivot_root', 'chroot', 'unshare', 'setns', 'mknodat',
  'move_mount', 'open_tree', 'fsopen', 'fsconfig', 'fsmount', 'fspick', 'mount_setattr',
  'open_by_handle_at', 'name_to_handle_at', 'bpf', 'perf_event_open', 'userfaultfd',
  // The host's session keyring is inherited by its children, through every namespace.
  'keyctl', 'add_key', 'request_key',
  'init_module', 'finit_module', 'delete_module', 'kexec_load', 'kexec_file_load', 'reboot', 'swapon', 'swapoff',
  'acct', 'quotactl', 'syslog', 'settimeofday', 'clock_settime', 'adjtimex', 'sethostname', 'setdomainname',
  'setuid', 'setgid', 'setresuid', 'setresgid', 'setgroups', 'capset', 'seccomp', 'iopl', 'ioperm', 'modify_ldt',
];

const WORKER_POLICY: SyscallPolicy = {
  allow: [...RUNNING, ...STARTING, ...CHANNEL_AS_STREAM],
  guarded: GUARDED,
  refuse: REFUSED,
  kill: KILLED,
  // Unknown calls do not exist: libraries then fall back to an older call, as on an older kernel.
  otherwise: { errno: ENOSYS },
};
