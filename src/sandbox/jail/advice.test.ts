import { expect, test } from 'vitest';
import { advise, distribution, type Symptoms } from './advice.js';

const plain: Symptoms = {
  isLinux: true,
  hasSupportedArchitecture: true,
  distribution: 'debian',
  isContainer: false,
  hasCallFilter: false,
  hasAppArmorProfile: false,
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
  expect(advice({}, 'bwrap: Unknown option --unshare-cgroup-try')).toBe(
    'install a newer bubblewrap: this one is too old',
  );
  expect(advice({}, 'prlimit: failed to execute /usr/bin/bwrap: Permission denied')).toBe(
    'run: sudo chmod 755 /usr/bin/bwrap',
  );
  expect(advice({ isLinux: false })).toContain('run codemode on Linux');
});

test('in a container the advice is the flags that lift what restricts it', () => {
  const flags = 'start the container with: --security-opt seccomp=unconfined --security-opt apparmor=unconfined';
  const advice = (level: 'strict' | 'namespaces', changes: Partial<Symptoms>, reason = REFUSED) =>
    advise(level, reason, { ...plain, isContainer: true, ...changes });
  expect(advice('strict', { hasCallFilter: true })).toBe(flags);
  expect(advice('strict', { hasAppArmorProfile: true })).toBe(flags);
  const readOnly = 'codemode-jail: 9: cannot create /proc/sys/user/max_user_namespaces: Read-only file system';
  expect(advice('namespaces', { hasCallFilter: true }, readOnly)).toBe(
    `install bubblewrap in the image for "strict", or ${flags} --security-opt systempaths=unconfined`,
  );
  expect(advice('strict', { userNamespacesCount: '0', hasCallFilter: true })).toBe(
    'run on the machine that has the container: sudo sysctl -w user.max_user_namespaces=15000',
  );
  expect(advice('strict', { appArmorRestricts: true, hasCallFilter: true })).toBe(
    `run on the machine that has the container: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\n${flags}`,
  );
});

test('no container flags are advised where nothing of a container restricts the jail', () => {
  expect(advise('strict', REFUSED, { ...plain, isContainer: true })).toContain('allow this user');
  expect(advise('strict', REFUSED, { ...plain, hasCallFilter: true })).toContain('without that filter');
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
