import { expect, test } from 'vitest';
import { bubblewrapSpawn } from './bubblewrap.js';
import type { JailedProgram } from './jail.js';
import type { Linkage } from './libraries.js';
import { plainSpawn } from './none.js';
import { unshareSpawn } from './unshare.js';
import { type FileReader, viewOf } from './view.js';

const program: JailedProgram = {
  runtime: 'quickjs',
  interpreterPath: '/opt/node/bin/node',
  interpreterArguments: ['--stack-size=900', '/codemode/worker.js'],
  files: [
    { from: '/app/dist/worker.js', to: '/codemode/worker.js' },
    { from: '/app/addon.node', to: '/codemode/addon.node' },
  ],
  limits: { dataBytes: 1000, cpuSeconds: 2.5, processes: 24, fileBytes: 0 },
};

const LINKAGES: Record<string, Linkage['libraries']> = {
  '/opt/node/bin/node': [{ name: 'libc.so.6', path: '/usr/lib/libc.so.6' }],
  '/app/addon.node': [
    { name: 'libc.so.6', path: '/usr/lib/libc.so.6' },
    { name: 'librt.so.1', path: '/usr/lib/librt.so.1' },
  ],
};
const reader: FileReader = {
  readable: (path) => path,
  linkage: (path) => ({ loader: '/lib64/ld.so', loaderFile: '/usr/lib/ld.so', libraries: LINKAGES[path] ?? [] }),
  isElf: (path) => path.endsWith('.node'),
};
const tools = {
  setpriv: '/usr/bin/setpriv',
  prlimit: '/usr/bin/prlimit',
  bwrap: '/usr/bin/bwrap',
  unshare: '/usr/bin/unshare',
  sh: '/bin/sh',
  umount: '/usr/bin/umount',
};
const hardLimits = new Map([['Max open files', 32]]);
const view = viewOf(program, reader);
const filter = new Uint8Array(8);

const LIMITS = '--data=1000:1000 --core=0:0 --nofile=32:32 --msgqueue=0:0 --memlock=0:0 --cpu=3:3';
const MOUNTS =
  '--ro-bind /opt/node/bin/node /bin/node --ro-bind /usr/lib/libc.so.6 /lib/libc.so.6 ' +
  '--ro-bind /app/dist/worker.js /codemode/worker.js --ro-bind /app/addon.node /codemode/addon.node ' +
  '--ro-bind /usr/lib/librt.so.1 /lib/librt.so.1 --ro-bind /lib64/ld.so /lib64/ld.so';

test('strict, for a host that is root, is exactly this command', () => {
  const spawn = bubblewrapSpawn(view, {
    tools,
    hardLimits,
    filter,
    limits: program.limits,
    uid: 2_000_000_001,
    processLimit: { place: 'outside' },
  });
  expect(spawn).toEqual({
    file: '/usr/bin/setpriv',
    args: (
      '--reuid 2000000001 --regid 2000000001 --clear-groups -- ' +
      `/usr/bin/prlimit ${LIMITS} --fsize=0:0 --nproc=25:25 -- /usr/bin/bwrap ` +
      '--unshare-user --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup-try --hostname codemode ' +
      '--uid 1000 --gid 1000 --cap-drop ALL --die-with-parent --new-session --as-pid-1 ' +
      `--clearenv --setenv LD_LIBRARY_PATH /lib --setenv UV_USE_IO_URING 0 ${MOUNTS} ` +
      '--remount-ro / --chdir / --seccomp 4 -- /bin/node --stack-size=900 /codemode/worker.js'
    ).split(' '),
    env: {},
    descriptors: [{ fd: 4, content: filter }],
  });
});

test('strict without root limits processes inside the namespace, where only the worker counts', () => {
  const { file, args } = bubblewrapSpawn(view, {
    tools,
    hardLimits,
    filter,
    limits: program.limits,
    uid: undefined,
    processLimit: { place: 'inside', reader },
  });
  const text = args.join(' ');
  expect(`${file} ${text}`).toMatch(/^\/usr\/bin\/prlimit (?!.*--nproc.*--nproc)/);
  expect(text).toContain('--ro-bind /usr/bin/prlimit /setup/prlimit --ro-bind /lib64/ld.so /setup/loader');
  expect(text).toMatch(
    /-- \/setup\/loader --library-path \/setup \/setup\/prlimit --nproc=24:24 -- \/bin\/node --stack-size=900 \/codemode\/worker.js$/,
  );
});

test('namespaces is exactly this command around its script, in which no failure is passed over', () => {
  const spawn = unshareSpawn(view, {
    tools,
    hardLimits,
    reader,
    limits: program.limits,
    uid: 2_000_000_001,
    setsProcessLimit: true,
  });
  const scriptAt = spawn.args.indexOf('-c') + 1;
  const [script = '', name, root, limits, environment, table, ...rest] = spawn.args.slice(scriptAt);
  expect(spawn.args.slice(0, scriptAt).join(' ')).toBe(
    '--reuid 2000000001 --regid 2000000001 --clear-groups --pdeathsig KILL -- ' +
      `/usr/bin/prlimit ${LIMITS} -- /usr/bin/unshare --user --map-root-user --mount --pid --net --ipc --uts --cgroup ` +
      '--fork --kill-child -- /bin/sh -c',
  );
  expect({ name, root, limits, environment }).toEqual({
    name: 'codemode-jail',
    root: '/mnt',
    limits: '--fsize=0:0 --nproc=25:25',
    environment: 'LD_LIBRARY_PATH=/lib UV_USE_IO_URING=0',
  });
  expect(table?.split('\n')[0]).toBe('/opt/node/bin/node /mnt/bin/node none bind,ro,nosuid,nodev 0 0');
  expect(rest.slice(-9).join(' ')).toBe(
    '/setup/setpriv --no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all -- ' +
      '/bin/node --stack-size=900 /codemode/worker.js',
  );
  expect(script.startsWith('set -eu\n')).toBe(true);
  expect(script).not.toMatch(/\|\||&&|\btrue\b|set \+e/);
});

test('a path with blanks is written into the mount table so that it stays one path', () => {
  const blank = viewOf({ ...program, files: [{ from: '/app/my #1\\x', to: '/codemode/a' }] }, reader);
  const { args } = unshareSpawn(blank, {
    tools,
    hardLimits,
    reader,
    limits: program.limits,
    uid: undefined,
    setsProcessLimit: true,
  });
  expect(args.find((argument) => argument.includes('none bind'))).toContain(
    '/app/my\\040\\0431\\134x /mnt/codemode/a none',
  );
});

test('the new root is never mounted over something that is mounted from there', () => {
  const hidden = viewOf({ ...program, files: [{ from: '/mnt/app/worker.js', to: '/codemode/worker.js' }] }, reader);
  const { args } = unshareSpawn(hidden, {
    tools,
    hardLimits,
    reader,
    limits: program.limits,
    uid: undefined,
    setsProcessLimit: true,
  });
  expect(args[args.indexOf('codemode-jail') + 1]).toBe('/media');
});

test('none is a plain process, with paths as they are outside', () => {
  expect(plainSpawn(program, { tools, hardLimits })).toEqual({
    file: '/usr/bin/setpriv',
    args: (
      `--pdeathsig KILL --no-new-privs -- /usr/bin/prlimit ${LIMITS} --fsize=0:0 -- ` +
      '/opt/node/bin/node --stack-size=900 /app/dist/worker.js'
    ).split(' '),
    env: { UV_USE_IO_URING: '0' },
    descriptors: [],
  });
  expect(plainSpawn(program, { tools: {}, hardLimits }).file).toBe('/opt/node/bin/node');
});

test.each(['codemode/a', '/codemode/../a', '/lib/libc.so.6', '/bin/node', '/setup/x', '/'])(
  '%s cannot be a file of the view',
  (to) => {
    expect(() => viewOf({ ...program, files: [{ from: '/app/a.js', to }] }, reader)).toThrow(/cannot be the path/);
  },
);

test('a limit too low for Node to start is raised to one with which it does', () => {
  const { args } = bubblewrapSpawn(view, {
    tools,
    hardLimits,
    filter,
    limits: { ...program.limits, processes: 1 },
    uid: 1,
    processLimit: { place: 'outside' },
  });
  expect(args).toContain('--nproc=17:17');
});

test('every level gives the main thread its stack, and adds what Node sets aside for its threads', () => {
  const limits = { ...program.limits, stackBytes: 500 };
  const options = { tools, hardLimits, filter, limits, uid: undefined, reader, setsProcessLimit: false };
  const spawns = [
    bubblewrapSpawn(view, { ...options, processLimit: { place: 'nowhere' } }),
    unshareSpawn(view, options),
    plainSpawn({ ...program, limits }, { tools, hardLimits }),
  ];
  for (const { args } of spawns) expect(args).toEqual(expect.arrayContaining(['--stack=500:500', '--data=2000:2000']));
});

test('where the machine allows no larger stack, a worker gets what there is', () => {
  const limits = { ...program.limits, stackBytes: 500 };
  const { args } = plainSpawn({ ...program, limits }, { tools, hardLimits: new Map([['Max stack size', 300]]) });
  expect(args).toContain('--stack=300:300');
});

const withWorkspace: JailedProgram = {
  ...program,
  runtime: 'python',
  interpreterPath: '/opt/python/bin/python3.11',
  interpreterArguments: ['-I', '/codemode/main.py', '/workspace'],
  files: [{ from: '/app/main.py', to: '/codemode/main.py' }],
  folders: [
    { from: '/opt/python/lib/python3.11', to: '/usr/lib/python3.11', hidden: ['site-packages'], addons: ['/opt/x.so'] },
  ],
  workspace: { bytes: 4096, files: 9 },
  environment: { HOME: '/workspace' },
  limits: { ...program.limits, fileBytes: 4096, descriptors: 20 },
};

test('a program with a workspace gets it, an init and system folders, nothing a user installed', () => {
  const { args } = bubblewrapSpawn(viewOf(withWorkspace, reader), {
    tools,
    hardLimits,
    filter,
    limits: withWorkspace.limits,
    uid: 2_000_000_001,
    processLimit: { place: 'outside' },
  });
  const text = args.join(' ');
  expect(text).not.toContain('--as-pid-1');
  expect(text).toContain('--nofile=20:20');
  expect(text).toContain('--fsize=4096:4096');
  expect(text.slice(text.indexOf('--clearenv'))).toBe(
    '--clearenv --setenv LD_LIBRARY_PATH /lib --setenv UV_USE_IO_URING 0 --setenv HOME /workspace ' +
      '--ro-bind /opt/python/bin/python3.11 /usr/bin/python3 --ro-bind /app/main.py /codemode/main.py ' +
      '--ro-bind /lib64/ld.so /lib64/ld.so --ro-bind /opt/python/lib/python3.11 /usr/lib/python3.11 ' +
      '--tmpfs /usr/lib/python3.11/site-packages --remount-ro /usr/lib/python3.11/site-packages ' +
      '--size 4096 --tmpfs /workspace --dir /workspace/.tmp --symlink /workspace/.tmp /tmp ' +
      '--dev-bind /dev/null /dev/null --remount-ro / --chdir /workspace --seccomp 4 -- ' +
      '/usr/bin/python3 -I /codemode/main.py /workspace',
  );
});

test('the same at level namespaces, where the number of files is bounded too', () => {
  const { args } = unshareSpawn(viewOf(withWorkspace, reader), {
    tools,
    hardLimits,
    reader,
    limits: withWorkspace.limits,
    uid: undefined,
    setsProcessLimit: true,
  });
  const at = args.indexOf('codemode-jail');
  expect(args[at + 3]).toBe('LD_LIBRARY_PATH=/lib UV_USE_IO_URING=0 HOME=/workspace');
  expect(args[at + 4]?.split('\n').slice(-5)).toEqual([
    '/opt/python/lib/python3.11 /mnt/usr/lib/python3.11 none bind,ro,nosuid,nodev 0 0',
    'codemode /mnt/usr/lib/python3.11/site-packages tmpfs ro,size=4k,nr_inodes=2,nosuid,nodev 0 0',
    'codemode /mnt/workspace tmpfs size=4096,nr_inodes=9,mode=755,nosuid,nodev 0 0',
    '/dev/null /mnt/dev/null none bind,nosuid,noexec 0 0',
    '',
  ]);
});
