import { existsSync } from 'node:fs';
import type { IsolationLevel } from '../../domain/isolation.js';
import type { JailFeature } from './jail.js';
import { type Machine, readText } from './machine.js';

/** The commands that make `level` work here, derived from the failure and from what the machine reports about itself. */
export function adviceFor(level: IsolationLevel, machine: Machine, reason: string): string {
  return advise(level, reason, {
    isLinux: machine.isLinux,
    hasSupportedArchitecture: machine.architecture !== undefined,
    distribution: distribution(readText('/etc/os-release') ?? ''),
    isContainer: CONTAINER_MARKS.some((path) => existsSync(path)),
    hasCallFilter: /^Seccomp:\s*2$/m.test(readText('/proc/self/status') ?? ''),
    hasAppArmorProfile: isConfined(readText('/proc/self/attr/apparmor/current') ?? readText('/proc/self/attr/current')),
    appArmorRestricts: readText(APPARMOR_SWITCH)?.trim() === '1',
    userNamespacesSwitchedOff: readText(DEBIAN_SWITCH)?.trim() === '0',
    userNamespacesCount: readText(NAMESPACE_COUNT)?.trim(),
    bwrapPath: machine.tools.bwrap ?? '/usr/bin/bwrap',
  });
}

export interface Symptoms {
  readonly isLinux: boolean;
  readonly hasSupportedArchitecture: boolean;
  readonly distribution: Distribution;
  readonly isContainer: boolean;
  /** This process was started under a system call filter, as the default of container tools is one. */
  readonly hasCallFilter: boolean;
  readonly hasAppArmorProfile: boolean;
  readonly appArmorRestricts: boolean;
  readonly userNamespacesSwitchedOff: boolean;
  readonly userNamespacesCount: string | undefined;
  readonly bwrapPath: string;
}

/** Pure, so that machines we do not have can be tested. */
export function advise(level: IsolationLevel, reason: string, symptoms: Symptoms): string {
  if (!symptoms.isLinux) return 'run codemode on Linux: in a virtual machine, in WSL 2 or in a container';
  if (level === 'strict' && !symptoms.hasSupportedArchitecture) {
    return 'use a machine of architecture x64 or arm64, or set sandbox.isolation to "namespaces"';
  }
  if (reason.startsWith('not installed:')) {
    return `run: ${INSTALL[symptoms.distribution]} ${level === 'strict' ? 'bubblewrap util-linux' : 'util-linux mount hostname'}`;
  }
  if (/unknown option/i.test(reason)) return 'install a newer bubblewrap: this one is too old';
  if (/failed to execute/.test(reason)) return `run: sudo chmod 755 ${symptoms.bwrapPath}`;
  const place = symptoms.isContainer ? 'run on the machine that has the container:' : 'run:';
  if (symptoms.userNamespacesSwitchedOff) return `${place} sudo sysctl -w kernel.unprivileged_userns_clone=1`;
  if (symptoms.userNamespacesCount === '0') return `${place} sudo sysctl -w user.max_user_namespaces=15000`;
  if (symptoms.isContainer && symptoms.appArmorRestricts) {
    const host = `${place} sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`;
    return [host, containerAdvice(level, symptoms, reason) ?? ''].filter(Boolean).join('\n');
  }
  if (symptoms.appArmorRestricts) {
    return level === 'strict'
      ? appArmorAdvice(symptoms.bwrapPath)
      : 'this system lets only programs with an AppArmor profile make namespaces: use sandbox.isolation "strict"';
  }
  const flags = symptoms.isContainer ? containerAdvice(level, symptoms, reason) : undefined;
  if (flags !== undefined) return flags;
  if (symptoms.hasCallFilter && REFUSAL.test(reason)) {
    return 'a system call filter of the program that started codemode (a container, a snap, a service manager) refuses namespaces: start codemode without that filter';
  }
  return 'allow this user to make user namespaces (try: unshare --user --map-root-user true), then start codemode again';
}

/** The messages with which bwrap, unshare and mount report a refusal by the kernel or its security modules. */
const REFUSAL = /not permitted|permission|denied|too revealing|read-only/i;

const CONTAINER_MARKS = ['/.dockerenv', '/run/.containerenv'];

/** As the kernel shows the profile of a process: `docker-default (enforce)`, or `unconfined`. */
function isConfined(profile: string | undefined): boolean {
  return profile !== undefined && profile.trim() !== '' && !profile.startsWith('unconfined');
}

export type Distribution = 'debian' | 'fedora' | 'arch' | 'alpine' | 'suse' | 'other';

const INSTALL: Record<Distribution, string> = {
  debian: 'sudo apt-get install -y',
  fedora: 'sudo dnf install -y',
  arch: 'sudo pacman -S --noconfirm',
  alpine: 'apk add setpriv',
  suse: 'sudo zypper install -y',
  other: 'install with your package manager:',
};

export function distribution(osRelease: string): Distribution {
  const words = [...osRelease.matchAll(/^(?:ID|ID_LIKE)="?([^"\n]*)/gm)].flatMap(([, names]) =>
    (names ?? '').split(' '),
  );
  const known: [Distribution, RegExp][] = [
    ['debian', /^(debian|ubuntu)$/],
    ['fedora', /^(fedora|rhel|centos)$/],
    ['arch', /^arch$/],
    ['alpine', /^alpine$/],
    ['suse', /^(suse|opensuse.*)$/],
  ];
  return known.find(([, pattern]) => words.some((word) => pattern.test(word)))?.[0] ?? 'other';
}

/**
 * The flags that lift what this container restricts; undefined where no flag would help, as in an image that was unpacked on a
 * machine. The container is then isolated by its own namespaces only, and each worker by ours inside it.
 */
function containerAdvice(level: IsolationLevel, symptoms: Symptoms, reason: string): string | undefined {
  if (!REFUSAL.test(reason)) return undefined;
  const isRestricted = symptoms.hasCallFilter || symptoms.hasAppArmorProfile;
  const flags = isRestricted ? ['--security-opt seccomp=unconfined', '--security-opt apparmor=unconfined'] : [];
  if (level === 'namespaces' || HIDDEN_PATHS.test(reason)) flags.push('--security-opt systempaths=unconfined');
  if (flags.length === 0) return undefined;
  const start = `start the container with: ${flags.join(' ')}`;
  return level === 'strict' ? start : `install bubblewrap in the image for "strict", or ${start}`;
}

/** Container tools cover parts of /proc, and the kernel then refuses a new one that would show them. */
const HIDDEN_PATHS = /mount proc|\/proc\b.*(read-only|not permitted|denied)|too revealing/i;

/** Ubuntu since 24.04 refuses user namespaces to programs without a profile. This profile gives bwrap nothing else. */
function appArmorAdvice(bwrapPath: string): string {
  return [
    'Ubuntu lets only programs with an AppArmor profile make user namespaces. Run:',
    "sudo tee /etc/apparmor.d/bwrap >/dev/null <<'END'",
    'abi <abi/4.0>,',
    'include <tunables/global>',
    `profile bwrap ${bwrapPath} flags=(unconfined) {`,
    '  userns,',
    '  include if exists <local/bwrap>',
    '}',
    'END',
    'sudo apparmor_parser -r /etc/apparmor.d/bwrap',
  ].join('\n');
}

const APPARMOR_SWITCH = '/proc/sys/kernel/apparmor_restrict_unprivileged_userns';
const DEBIAN_SWITCH = '/proc/sys/kernel/unprivileged_userns_clone';
const NAMESPACE_COUNT = '/proc/sys/user/max_user_namespaces';

/** The kernel features that `doctor` prints, whether or not they mattered. */
export function kernelFeatures(machine: Machine): JailFeature[] {
  const uids = machine.workerUids;
  return [
    { name: 'bubblewrap', value: machine.tools.bwrap ?? 'not installed' },
    { name: 'unshare', value: machine.tools.unshare ?? 'not installed' },
    { name: 'user namespaces allowed', value: readText(NAMESPACE_COUNT)?.trim() ?? 'unknown' },
    { name: 'restricted by AppArmor', value: readText(APPARMOR_SWITCH)?.trim() === '1' ? 'yes' : 'no' },
    {
      name: 'switched off by kernel.unprivileged_userns_clone',
      value: readText(DEBIAN_SWITCH)?.trim() === '0' ? 'yes' : 'no',
    },
    {
      name: 'processes counted per user namespace',
      value: machine.countsProcessesPerNamespace ? 'yes' : 'no, since Linux 5.14',
    },
    {
      name: 'uids for workers',
      value: uids === undefined ? "the host's own" : `${uids.first} to ${uids.first + uids.count - 1}`,
    },
  ];
}
