import { expect, test } from 'vitest';
import { advise, distribution, type Symptoms } from './advice.js';

const plain: Symptoms = {
  isLinux: true,
  hasSupportedArchitecture: true,
  distribution: 'debian',
  isContainer: false,
  appArmorRestricts: false,
  userNamespacesSwitchedOff: false,
  userNamespacesCount: '15000',
  bwrapPath: '/usr/bin/bwrap',
};
const REFUSED = 'bwrap: setting up uid map: Permission denied';

test('each reason comes with the command that removes it', () => {
  const advice = (changes: Partial<Symptoms>, reason = REFUSED) => advise('strict', reason, { ...plain, ...changes });
  expect(advice({}, 'not installed: bwrap')).toBe('run: sudo apt-get install -y bubblewrap util-linux');
  expect(advice({ distribution: 'fedora' }, 'not installed: bwrap')).toContain('sudo dnf install -y bubblewrap');
  expect(advice({ userNamespacesSwitchedOff: true })).toBe('run: sudo sysctl -w kernel.unprivileged_userns_clone=1');
  expect(advice({ userNamespacesCount: '0' })).toBe('run: sudo sysctl -w user.max_user_namespaces=15000');
  expect(advice({ isContainer: true })).toContain('--security-opt seccomp=unconfined');
  expect(advice({ isLinux: false })).toContain('run codemode on Linux');
});

test('on Ubuntu 24.04 the advice is an AppArmor profile for this bwrap', () => {
  const text = advise('strict', REFUSED, { ...plain, appArmorRestricts: true, bwrapPath: '/opt/bwrap' });
  expect(text).toContain('profile bwrap /opt/bwrap flags=(unconfined) {\n  userns,');
  expect(text).toContain('apparmor_parser -r /etc/apparmor.d/bwrap');
});

test("distributions are known by their own name or their parent's", () => {
  expect(distribution('NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\n')).toBe('debian');
  expect(distribution('ID="rocky"\nID_LIKE="rhel centos fedora"\n')).toBe('fedora');
  expect(distribution('ID=alpine\n')).toBe('alpine');
  expect(distribution('ID=nixos\n')).toBe('other');
});
