import { describe, expect, test } from 'vitest';
import { MAX_DESCRIPTOR_BYTES } from './jail.js';
import { compileFilter, type FilterArchitecture } from './seccomp.js';
import { syscallPolicy } from './seccomp-lists.js';
import { SYSCALL_NUMBERS, type SyscallName } from './syscall-numbers.js';

const AUDIT = { x64: 0xc000003e, arm64: 0xc00000b7, i386: 0x40000003 };
const ALLOW = 'allow';
const KILL = 'kill';
const EPERM = 'errno 1';
const ENOTTY = 'errno 25';
const EROFS = 'errno 30';
const ENOSYS = 'errno 38';

const interpreters = {
  x64: compileFilter(syscallPolicy('python'), 'x64'),
  arm64: compileFilter(syscallPolicy('node'), 'arm64'),
};
const filters = {
  x64: compileFilter(syscallPolicy('quickjs'), 'x64'),
  arm64: compileFilter(syscallPolicy('quickjs'), 'arm64'),
};

describe.each<FilterArchitecture>(['x64', 'arm64'])('the filter for %s', (architecture) => {
  const decide = (name: SyscallName, ...values: number[]): string => {
    const number = SYSCALL_NUMBERS[name][architecture === 'x64' ? 0 : 1];
    if (number === undefined) throw new Error(`${name} does not exist on ${architecture}`);
    return interpret(filters[architecture], { number, architecture: AUDIT[architecture], values });
  };

  test('allows what a worker does all day', () => {
    const calls: SyscallName[] = [
      'read',
      'write',
      'futex',
      'mmap',
      'mprotect',
      'epoll_pwait',
      'exit_group',
      'getrandom',
    ];
    expect(calls.map((name) => decide(name))).toEqual(calls.map(() => ALLOW));
  });

  test('kills what no honest worker does', () => {
    const calls: SyscallName[] = [
      'ptrace',
      'mount',
      'unshare',
      'setns',
      'bpf',
      'keyctl',
      'userfaultfd',
      'kexec_load',
      'setuid',
    ];
    expect(calls.map((name) => decide(name))).toEqual(calls.map(() => KILL));
  });

  test('has never heard of anything else', () => {
    expect(decide('connect')).toBe(ENOSYS);
    expect(decide('memfd_create')).toBe(ENOSYS);
    expect(decide('io_uring_setup')).toBe(ENOSYS);
    expect(interpret(filters[architecture], { number: 9_999, architecture: AUDIT[architecture], values: [] })).toBe(
      ENOSYS,
    );
  });

  test('allows threads and refuses processes and namespaces', () => {
    const glibcThread = 0x3d0f00;
    expect(decide('clone', glibcThread)).toBe(ALLOW);
    expect(decide('clone', 0x7d0f00), 'musl').toBe(ALLOW);
    expect(decide('clone', 17), 'fork').toBe(EPERM);
    expect(decide('clone', 0x4111), 'vfork').toBe(EPERM);
    expect(decide('clone', 0x10000), 'a thread flag without its company').toBe(EPERM);
    for (const namespace of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(decide('clone', glibcThread | namespace)).toBe(EPERM);
    }
    expect(decide('clone3')).toBe(ENOSYS);
  });

  test('opens files for reading only', () => {
    expect(decide('openat', -100, 0, 0x80000)).toBe(ALLOW);
    for (const flags of [1, 2, 0x40, 0x200, 0x410000]) expect(decide('openat', -100, 0, flags)).toBe(EROFS);
  });

  test('lets ioctl, prctl, fcntl and prlimit64 do what Node needs of them', () => {
    expect(decide('ioctl', 2, 0x5401)).toBe(ALLOW);
    expect(decide('ioctl', 2, 0x5412), 'TIOCSTI').toBe(ENOTTY);
    expect(decide('prctl', 15)).toBe(ALLOW);
    expect(decide('prctl', 1), 'PR_SET_PDEATHSIG').toBe(EPERM);
    expect(decide('prctl', 22), 'PR_SET_SECCOMP').toBe(EPERM);
    expect(decide('fcntl', 3, 4)).toBe(ALLOW);
    expect(decide('fcntl', 3, 1031), 'F_SETPIPE_SZ').toBe(EPERM);
    expect(decide('prlimit64', 0)).toBe(ALLOW);
    expect(decide('prlimit64', 7)).toBe(EPERM);
  });

  test('kills a call that comes in through the table of another architecture', () => {
    const number = SYSCALL_NUMBERS.read[architecture === 'x64' ? 0 : 1];
    const others = Object.values(AUDIT).filter((value) => value !== AUDIT[architecture]);
    expect(
      others.map((other) => interpret(filters[architecture], { number, architecture: other, values: [] })),
    ).toEqual([KILL, KILL]);
  });

  test('fits into the pipe through which it is handed over', () => {
    expect(filters[architecture].length).toBeLessThan(4096);
  });
});

describe.each<FilterArchitecture>(['x64', 'arm64'])('the filter of real interpreters for %s', (architecture) => {
  const decide = (name: SyscallName, ...values: number[]): string => {
    const number = SYSCALL_NUMBERS[name][architecture === 'x64' ? 0 : 1] ?? -1;
    return interpret(interpreters[architecture], { number, architecture: AUDIT[architecture], values });
  };

  test('lets a program write files, and have threads, children and pairs of sockets', () => {
    expect(decide('openat', -100, 0, 0x241)).toBe(ALLOW);
    expect(decide('clone', 0x3d0f00)).toBe(ALLOW);
    expect(decide('clone', 17), 'fork').toBe(ALLOW);
    expect(decide('wait4')).toBe(ALLOW);
    expect(decide('kill')).toBe(ALLOW);
    expect(decide('socketpair', 1)).toBe(ALLOW);
  });

  test('gets no namespace, no other socket, no foreign descriptor and no uncounted memory', () => {
    for (const namespace of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
      expect(decide('clone', 17 | namespace)).toBe(EPERM);
    expect(decide('clone', 17 | 0x8000), 'CLONE_PARENT').toBe(EPERM);
    expect(decide('clone3')).toBe(ENOSYS);
    expect(decide('socket', 1)).toBe(EPERM);
    expect(decide('socketpair', 2)).toBe(EPERM);
    expect(decide('sendmsg')).toBe(ENOSYS);
    expect(decide('memfd_create')).toBe(ENOSYS);
    expect(decide('io_uring_setup')).toBe(ENOSYS);
    expect(decide('fcntl', 3, 1031), 'F_SETPIPE_SZ').toBe(EPERM);
    for (const flags of [0x22, 0x01, 0x02, 0x20022]) expect(decide('mmap', 0, 0, 0, flags)).toBe(ALLOW);
    for (const flags of [0x21, 0x23, 0x20021]) expect(decide('mmap', 0, 0, 0, flags), 'shared').toBe(EPERM);
  });

  test('kills what a worker of ours is killed for', () => {
    const calls: SyscallName[] = ['ptrace', 'mount', 'unshare', 'setns', 'bpf', 'keyctl', 'process_vm_readv', 'setuid'];
    expect(calls.map((name) => decide(name))).toEqual(calls.map(() => KILL));
  });

  test('fits into the pipe through which it is handed over', () => {
    expect(interpreters[architecture].length).toBeLessThanOrEqual(MAX_DESCRIPTOR_BYTES);
  });
});

test('kills calls of the x32 table, whatever their number', () => {
  for (const number of [0x40000000, 0x40000001, 0x40000000 + 512, 0xffffffff]) {
    expect(interpret(filters.x64, { number, architecture: AUDIT.x64, values: [] })).toBe(KILL);
  }
});

test.each(['quickjs', 'node', 'python'] as const)('each call of %s has one verdict', (runtime) => {
  const { allow, guarded, refuse, kill } = syscallPolicy(runtime);
  const names = [...allow, ...guarded.map(({ call }) => call), ...refuse.map(([call]) => call), ...kill];
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test('a guard too long for one jump is refused rather than cut', () => {
  const rows = Array.from({ length: 100 }, (_, equals) => [{ argument: 0 as const, equals }]);
  const policy = {
    ...syscallPolicy('quickjs'),
    guarded: [{ call: 'ioctl' as const, anyOf: rows, otherwise: KILL as 'kill' }],
  };
  expect(() => compileFilter(policy, 'x64')).toThrow(RangeError);
});

/** Does to the bytes what the kernel does: classic BPF over a `struct seccomp_data`. */
function interpret(
  program: Uint8Array,
  entry: { number: number; architecture: number; values: readonly number[] },
): string {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, entry.number, true);
  data.setUint32(4, entry.architecture, true);
  // Rubbish in the upper halves, as machine code may leave there.
  for (let index = 0; index < 6; index += 1) {
    data.setUint32(16 + 8 * index, entry.values[index] ?? 0, true);
    data.setUint32(20 + 8 * index, 0xdeadbeef, true);
  }
  const code = new DataView(program.buffer, program.byteOffset, program.byteLength);
  let accumulator = 0;
  for (let at = 0; at < program.length; at += 8) {
    const operation = code.getUint16(at, true);
    const value = code.getUint32(at + 4, true);
    const jump = (condition: boolean): void => {
      at += 8 * code.getUint8(at + (condition ? 2 : 3));
    };
    if (operation === 0x20) accumulator = data.getUint32(value, true);
    else if (operation === 0x54) accumulator = (accumulator & value) >>> 0;
    else if (operation === 0x15) jump(accumulator === value);
    else if (operation === 0x35) jump(accumulator >= value);
    else if (operation === 0x06) return verdictName(value);
    else throw new Error(`unknown instruction ${operation.toString(16)}`);
  }
  throw new Error('the program ran off its end');
}

function verdictName(value: number): string {
  if (value === 0x7fff0000) return ALLOW;
  if (value === 0x80000000) return KILL;
  return value >>> 16 === 5 ? `errno ${value & 0xffff}` : `unknown ${value.toString(16)}`;
}
