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
    isContainer: existsSync('/.dockerenv') || existsSync('/run/.containerenv'),
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
  if (symptoms.isContainer && REFUSAL.test(reason)) return containerAdvice(level);
  if (symptoms.userNamespacesSwitchedOff) return 'run: sudo sysctl -w kernel.unprivileged_userns_clone=1';
  if (symptoms.userNamespacesCount === '0') return 'run: sudo sysctl -w user.max_user_namespaces=15000';
  if (symptoms.appArmorRestricts) {
    return level === 'strict'
      ? appArmorAdvice(symptoms.bwrapPath)
      : 'this system lets only programs with an AppArmor profile make namespaces: use sandbox.isolation "strict"';
  }
  return 'allow this user to make user namespaces (try: unshare --user --map-root-user true), then start codemode again';
}

/** The messages with which bwrap, unshare and mount report a refusal by the kernel or its security modules. */
const REFUSAL = /not permitted|permission|no permissions|denied|too revealing/i;

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

/** The container is then isolated by its own namespaces only, and each worker by ours inside it. */
function containerAdvice(level: IsolationLevel): string {
  const flags = '--security-opt seccomp=unconfined --security-opt apparmor=unconfined';
  return level === 'strict'
    ? `start the container with: ${flags}`
    : `install bubblewrap in the image for "strict", or start the container with: ${flags} --security-opt systempaths=unconfined`;
}

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
