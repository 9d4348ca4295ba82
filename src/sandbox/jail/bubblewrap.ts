import { type JailedFolder, type JailLimits, type Spawn, WORKSPACE } from './jail.js';
import { fileLimitArgument, limitArguments, processLimitArgument } from './limits.js';
import type { HardLimits } from './machine.js';
import { type FileReader, type JailView, viewThrough } from './view.js';

/** Level `strict`: all namespaces, no capabilities, a few read-only files, and the seccomp filter. Pure. */
export function bubblewrapSpawn(view: JailView, options: BubblewrapOptions): Spawn {
  const { tools, limits, hardLimits } = options;
  const inside =
    options.processLimit.place === 'inside' ? limitedInside(view, options, options.processLimit.reader) : view;
  const rlimits = [...limitArguments(limits, hardLimits), fileLimitArgument(limits, hardLimits)];
  // bwrap waits outside for its child, under the same uid.
  if (options.processLimit.place === 'outside') rlimits.push(processLimitArgument(limits, 1, hardLimits));
  const isOther = options.uid !== undefined;
  return {
    file: isOther ? tools.setpriv : tools.prlimit,
    // biome-ignore format: an option and its value on one line
    args: [
      ...(isOther ? [...identity(options.uid), '--', tools.prlimit] : []),
      ...rlimits,
      '--',
      tools.bwrap,
      ...NAMESPACES,
      '--uid', '1000', '--gid', '1000',
      '--cap-drop', 'ALL',
      // The only way in which bwrap dies with the host. bwrap makes its child wait until the child's uid is mapped. A bwrap killed
      // before that leaves a child that waits forever, so it must not die that early: it continues, and the program finds its
      // channel closed.
      '--die-with-parent',
      '--new-session',
      // No init beside our workers: it could only reap children, and the filter allows a worker none. A program with a workspace
      // may have children, and dies by the signals that it sends itself, as it would anywhere.
      ...(inside.workspace === undefined ? ['--as-pid-1'] : []),
      '--clearenv',
      ...Object.entries(inside.environment).flatMap(([name, value]) => ['--setenv', name, value]),
      // No /proc, /dev, /sys, /tmp or /etc: Node and Python run without any of them.
      ...inside.mounts.flatMap(({ from, to }) => ['--ro-bind', from, to]),
      ...inside.folders.flatMap(folderArguments),
      ...workspaceArguments(inside),
      '--remount-ro', '/',
      '--chdir', inside.workspace === undefined ? '/' : WORKSPACE,
      '--seccomp', String(FILTER_FD),
      '--',
      ...inside.command,
    ],
    env: {},
    descriptors: [{ fd: FILTER_FD, content: options.filter }],
  };
}

export interface BubblewrapOptions {
  readonly tools: { readonly setpriv: string; readonly prlimit: string; readonly bwrap: string };
  readonly limits: JailLimits;
  readonly hardLimits: HardLimits;
  /** A uid of the worker's own; undefined if the host is not root and so cannot assign one. */
  readonly uid: number | undefined;
  readonly processLimit: ProcessLimit;
  readonly filter: Uint8Array;
}

/**
 * Where RLIMIT_NPROC is set. `outside` counts a uid's processes on the whole machine, which is right for a uid that only this
 * worker has. `inside` counts those of the worker's user namespace, for a host that shares its uid with its workers.
 */
export type ProcessLimit =
  | { readonly place: 'outside' }
  | { readonly place: 'inside'; readonly reader: FileReader }
  | { readonly place: 'nowhere' };

/** bwrap fails on an empty or truncated program, so a filter that did not arrive never gives a jail without a filter. */
const FILTER_FD = 4;

// Only the cgroup namespace is optional: it merely hides a name, and some containers lack it.
// biome-ignore format: they belong together
const NAMESPACES = [
  '--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try',
  '--hostname', 'codemode',
];

function folderArguments({ from, to, hidden }: JailedFolder): string[] {
  return [
    ...['--ro-bind', from, to],
    ...hidden.flatMap((name) => ['--tmpfs', `${to}/${name}`, '--remount-ro', `${to}/${name}`]),
  ];
}

function workspaceArguments({ workspace }: JailView): string[] {
  if (workspace === undefined) return [];
  return [
    ...['--size', String(workspace.bytes), '--tmpfs', WORKSPACE],
    ...['--dir', WORKSPACE + TEMPORARY_FOLDER, '--symlink', WORKSPACE + TEMPORARY_FOLDER, '/tmp'],
    // Discarded output needs a target: `subprocess.DEVNULL`, `stdio: 'ignore'`.
    ...['--dev-bind', '/dev/null', '/dev/null'],
  ];
}

/** Inside the workspace, so that one size limit covers both. */
export const TEMPORARY_FOLDER = '/.tmp';

/** Arguments for `setpriv`: the process dies with the host, and is no longer root. */
export function becomeWorker(uid: number | undefined): string[] {
  return [...identity(uid), '--pdeathsig', 'KILL'];
}

function identity(uid: number | undefined): string[] {
  return uid === undefined ? [] : ['--reuid', String(uid), '--regid', String(uid), '--clear-groups'];
}

function limitedInside(view: JailView, options: BubblewrapOptions, reader: FileReader): JailView {
  const limit = processLimitArgument(options.limits, 0, options.hardLimits);
  return viewThrough(options.tools.prlimit, [limit], view, reader);
}
