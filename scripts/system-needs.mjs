// @ts-check
// What the tests need from the machine beyond Node and npm. One line adds a need.
import { spawnSync } from 'node:child_process';

/**
 * `package` is Debian's name. `probe` must succeed: it uses the thing, because a program that is installed may still
 * be forbidden to work (user namespaces in a container, say). `use` completes the sentence "needed for ...".
 *
 * @satisfies {Record<string, { package: string, probe: readonly [string, ...string[]], use: string, ifBroken?: string }>}
 */
export const NEEDS = {
  bubblewrap: {
    package: 'bubblewrap',
    probe: ['bwrap', '--unshare-all', '--ro-bind', '/', '/', '--proc', '/proc', 'true'],
    use: 'the jail at level strict',
    ifBroken: 'allow user namespaces to bwrap (a container needs its seccomp and AppArmor confinement lifted)',
  },
  strace: {
    package: 'strace',
    probe: ['strace', '-qq', '-o', '/dev/null', 'true'],
    use: 'killing the host at each of its system calls',
    ifBroken: 'allow processes to be traced (ptrace) by their parents',
  },
  dbus: {
    package: 'dbus',
    probe: ['dbus-daemon', '--version'],
    use: 'a session bus for the keyring',
  },
  keyring: {
    package: 'gnome-keyring',
    probe: ['gnome-keyring-daemon', '--version'],
    use: 'a real keyring to keep the key in',
  },
  chromium: {
    package: 'chromium',
    probe: ['chromium', '--version'],
    use: 'a real browser that logs in',
  },
  python3: {
    package: 'python3',
    // Not from PATH: a jail can only be given a Python that every user may read.
    probe: ['/usr/bin/python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 11))'],
    use: 'programs on real Python',
    ifBroken: 'install Python 3.11 or newer as /usr/bin/python3',
  },
  postgresql: {
    package: 'postgresql-15',
    // Debian keeps it outside of PATH, in a folder for each release.
    probe: [
      'sh',
      '-c',
      'PATH="$PATH:$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tr "\\n" ":")" exec postgres --version',
    ],
    use: 'several hosts that share a database',
    ifBroken: 'install PostgreSQL 13 or newer: apt-get install -y postgresql-15',
  },
  iproute: {
    package: 'iproute2',
    probe: ['sh', '-c', 'ip netns add codemode-probe && ip netns delete codemode-probe'],
    use: 'hosts in network namespaces of their own',
    ifBroken: 'run npm test as root, where network namespaces are allowed',
  },
  faketime: {
    package: 'faketime',
    probe: ['faketime', '-f', '+1s', 'true'],
    use: 'a host whose clock is wrong',
  },
  pgbouncer: {
    package: 'pgbouncer',
    probe: ['pgbouncer', '--version'],
    use: 'a pooler between hosts and their database',
  },
  nginx: {
    package: 'nginx-light',
    probe: ['nginx', '-v'],
    use: 'a balancer in front of several hosts',
  },
  jq: {
    package: 'jq',
    probe: ['jq', '--version'],
    use: 'the answers in the guide to several hosts',
  },
  mypy: {
    package: 'mypy',
    probe: ['mypy', '--version'],
    use: 'checking the types of Python packages',
  },
  curl: {
    package: 'curl',
    probe: ['curl', '--version'],
    use: 'the requests of the guide to REST',
  },
  zsh: {
    package: 'zsh',
    probe: ['zsh', '-fc', 'autoload -U compinit'],
    use: 'completion in zsh',
  },
  fish: {
    package: 'fish',
    probe: ['fish', '--version'],
    use: 'completion in fish',
  },
  mandoc: {
    package: 'mandoc',
    probe: ['mandoc', '/dev/null'],
    use: 'checking the man page',
    ifBroken: 'install mandoc: apt-get install -y mandoc',
  },
  registry: {
    package: 'npm',
    probe: ['npm', 'view', 'libsql@0.5.29', 'version', '--prefer-online'],
    use: 'installing the package as a user does',
    ifBroken: 'connect this machine to an npm registry',
  },
  go: {
    package: 'golang-go',
    probe: ['go', 'version'],
    use: 'programs in Go',
  },
};

/** @typedef {keyof typeof NEEDS} NeedName */

const PROBE_TIMEOUT_MS = 10_000;

/** What a shell answers where it found no such program. */
const NOT_FOUND = 127;

/**
 * Whether a need is met; if not, whether installing its package would help, and a reason that says what to type.
 *
 * @param {NeedName} name
 * @returns {{ isMet: true } | { isMet: false, isInstallable: boolean, reason: string }}
 */
export function checkNeed(name) {
  return probeNeed(NEEDS[name]);
}

/**
 * @param {{ package: string, probe: readonly string[], use: string, ifBroken?: string }} need
 * @returns {{ isMet: true } | { isMet: false, isInstallable: boolean, reason: string }}
 */
export function probeNeed(need) {
  const [program = '', ...args] = need.probe;
  const { error, status, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: PROBE_TIMEOUT_MS });
  if (status === 0) return { isMet: true };
  const isMissing = (error !== undefined && 'code' in error && error.code === 'ENOENT') || status === NOT_FOUND;
  if (isMissing) {
    const reason = `${status === NOT_FOUND ? need.package : program} is missing, needed for ${need.use}; type: ${installCommand([need.package])}`;
    return { isMet: false, isInstallable: true, reason };
  }
  const detail = stderr?.trim().split('\n')[0] || error?.message || `exit status ${status}`;
  const advice = need.ifBroken ?? `try: ${need.probe.join(' ')}`;
  const reason = `${program} does not work here (${detail}), needed for ${need.use}; ${advice}`;
  return { isMet: false, isInstallable: false, reason };
}

/** The command that installs these packages, with sudo unless the user is root. @param {readonly string[]} packages */
export function installCommand(packages, isRoot = process.getuid?.() === 0) {
  const apt = isRoot ? 'apt-get' : 'sudo apt-get';
  return `${apt} update && ${apt} install -y --no-install-recommends ${packages.join(' ')}`;
}
