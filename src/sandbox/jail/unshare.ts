import { dirname } from 'node:path';
import { HostError } from '../../domain/errors.js';
import { becomeWorker, TEMPORARY_FOLDER } from './bubblewrap.js';
import { type JailLimits, type Spawn, WORKSPACE } from './jail.js';
import { fileLimitArgument, limitArguments, processLimitArgument } from './limits.js';
import type { HardLimits } from './machine.js';
import { type FileReader, type JailView, viewThrough } from './view.js';

/** Level `namespaces`: the same view of the machine as `strict`, built with util-linux alone, without a filter. Pure. */
export function unshareSpawn(view: JailView, options: UnshareOptions): Spawn {
  const { tools, limits, hardLimits, reader } = options;
  const inside = viewThrough(tools.setpriv, DROP_EVERYTHING, view, reader);
  const root = mountPoint(inside);
  const lastLimits = [fileLimitArgument(limits, hardLimits)];
  // `unshare` waits outside for its child, but is in the same user namespace, and so counts too.
  if (options.setsProcessLimit) lastLimits.push(processLimitArgument(limits, 1, hardLimits));
  const umount = reader.linkage(tools.umount);
  const folders = new Set(umount.libraries.map(({ path }) => `/old${dirname(path)}`));
  // After the pivot the machine's programs run only through their loader, called explicitly, from the old root.
  const throughLoader =
    umount.loaderFile === undefined ? [] : [`/old${umount.loaderFile}`, '--library-path', [...folders].join(':')];
  return {
    file: tools.setpriv,
    // biome-ignore format: an option and its value on one line
    args: [
      ...becomeWorker(options.uid),
      '--',
      tools.prlimit,
      ...limitArguments(limits, hardLimits),
      '--',
      tools.unshare,
      '--user', '--map-root-user', '--mount', '--pid', '--net', '--ipc', '--uts', '--cgroup',
      '--fork', '--kill-child',
      '--',
      tools.sh, '-c', SCRIPT, 'codemode-jail',
      root,
      lastLimits.join(' '),
      Object.entries(inside.environment).map(([name, value]) => `${name}=${value}`).join(' '),
      mountTable(inside, root),
      ...inside.mounts.map(({ to }) => root + to),
      ...inside.folders.map(({ to }) => `${root}${to}/`),
      ...(inside.workspace === undefined ? [] : [`${root}${WORKSPACE}/`, `${root}/dev/null`]),
      '--',
      ...throughLoader, `/old${tools.umount}`, '-n', '-l', '/old',
      '--',
      ...inside.command,
    ],
    // For the script's commands. The worker's environment does not contain it.
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin' },
    descriptors: [],
  };
}

export interface UnshareOptions {
  readonly tools: Readonly<Record<'setpriv' | 'prlimit' | 'unshare' | 'sh' | 'umount', string>>;
  readonly limits: JailLimits;
  readonly hardLimits: HardLimits;
  readonly uid: number | undefined;
  /** False if the kernel would count every process of the host's user instead of the worker's own. */
  readonly setsProcessLimit: boolean;
  readonly reader: FileReader;
}

/** Leaves root inside the namespace no capability, and no way to gain one by starting a program. */
const DROP_EVERYTHING = ['--no-new-privs', '--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all'];

/**
 * Runs as root of the new user namespace, as process 1 of the new process namespace. Each step has its own line, so that `set -e`
 * ends the script, and with it the jail, at the first failure.
 */
const SCRIPT = `set -eu
umask 022
root=$1
limits=$2
environment=$3
table=$4
shift 4
# A user namespace of its own would give an intruder all capabilities over it, and the kernel's whole surface.
printf 0 > /proc/sys/user/max_user_namespaces
# The namespace starts with a copy of the host's name.
hostname codemode
mount -n -t tmpfs -o size=256k,nr_inodes=512,mode=755,nosuid,nodev codemode "$root"
while [ "$1" != -- ]; do
  folder=\${1%/*}
  if [ ! -d "$folder" ]; then
    mkdir -p "$folder"
  fi
  case $1 in
    */) ;;
    *) : > "$1" ;;
  esac
  shift
done
shift
# It names paths of the machine, so it must not stay.
printf %s "$table" > "$root/table"
mount -n -a -T "$root/table"
rm "$root/table"
home=/
if [ -d "$root${WORKSPACE}" ]; then
  home=${WORKSPACE}
  mkdir "$root${WORKSPACE}${TEMPORARY_FOLDER}"
  ln -s ${WORKSPACE}${TEMPORARY_FOLDER} "$root/tmp"
fi
mkdir "$root/old"
# umount looks into /proc for what it is to unmount. Points nowhere as soon as it has done so.
ln -s old/proc "$root/proc"
mount -n -o remount,bind,ro,nosuid,nodev "$root"
# Unquoted on purpose, here and below: words of our own, without blanks.
prlimit --pid $$ $limits
cd "$root"
pivot_root . old
cd /
unset PATH PWD OLDPWD
leave=
while [ "$1" != -- ]; do
  leave="$leave $1"
  shift
done
shift
$leave
cd $home
unset PWD OLDPWD
export $environment
exec "$@"
`;

/** All mounts in fstab format, for one `mount -a`: one command per mount takes 3 ms, seventeen times. It fails if any mount fails. */
function mountTable({ mounts, folders, workspace }: JailView, root: string): string {
  const inOctal = (path: string): string =>
    path.replace(/[\s\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);
  const bind = (from: string, to: string, options = 'ro,nosuid,nodev') =>
    `${inOctal(from)} ${inOctal(root + to)} none bind,${options} 0 0\n`;
  const memory = (to: string, options: string) => `codemode ${inOctal(root + to)} tmpfs ${options},nosuid,nodev 0 0\n`;
  const lines = mounts.map(({ from, to }) => bind(from, to));
  for (const { from, to, hidden } of folders)
    lines.push(bind(from, to), ...hidden.map((name) => memory(`${to}/${name}`, 'ro,size=4k,nr_inodes=2')));
  if (workspace !== undefined)
    lines.push(
      memory(WORKSPACE, `size=${workspace.bytes},nr_inodes=${workspace.files},mode=755`),
      bind('/dev/null', '/dev/null', 'nosuid,noexec'),
    );
  return lines.join('');
}

/** Folders that every machine has and that never contain Node. */
const MOUNT_POINTS = ['/mnt', '/media', '/srv', '/tmp'];

/** The new root is mounted over a folder of the old one, which must not hide the source of any mount. */
function mountPoint(view: JailView): string {
  const free = MOUNT_POINTS.find((folder) => !view.mounts.some(({ from }) => from.startsWith(`${folder}/`)));
  if (free !== undefined) return free;
  throw new HostError('jail_unavailable', `Node and codemode lie under ${MOUNT_POINTS.join(', ')}; move one of them`);
}
