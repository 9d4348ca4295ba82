import { describe, expect, test } from 'vitest';
import type { Jail } from '../../src/sandbox/jail/jail.js';
import { SYSCALL_NUMBERS, type SyscallName } from '../../src/sandbox/jail/syscall-numbers.js';
import { type JailedRun, jailForTests, nodeProgram, openFolder, ROOMY, runJailed } from '../support/jailed.js';
import { X64 } from '../support/needs.js';
import { type RawCall, rawProgram, rawResults } from '../support/raw-syscalls.js';

const THREAD_FLAGS = 0x10f00;
const SIGCHLD = 17;
const NEW_USER = 0x10000000;
const EPERM = -1;
const ESRCH = -3;
const EAGAIN = -11;
const ENOSPC = -28;
const ENOSYS = -38;
/** 128 + SIGSYS, as bwrap hands it on. */
const ENDED_BY_FILTER = 159;

const call = (name: SyscallName, ...values: (number | string)[]): RawCall => ({
  number: SYSCALL_NUMBERS[name][0],
  arguments: values,
});
const fork: RawCall = { ...call('fork'), makesChild: true };
const thread: RawCall = { ...call('clone', THREAD_FLAGS, 0x801000), makesChild: true };

/** Machine code in the place of Node. */
async function runRaw(jail: Jail, calls: readonly RawCall[], processes = ROOMY.processes): Promise<JailedRun> {
  using folder = openFolder();
  const interpreterPath = folder.write('raw', rawProgram(calls));
  return await runJailed(jail.spawn(nodeProgram('', { interpreterPath, limits: { ...ROOMY, processes } })));
}

const strict = await jailForTests('strict', X64);
describe('machine code in a jail of level strict', strict.options, () => {
  const jail = strict.jail as Jail;

  test('is refused processes, sockets, signals, io_uring and namespaces of its own', async () => {
    const attempts: [RawCall, number][] = [
      [fork, EPERM],
      [{ ...call('vfork'), makesChild: true }, EPERM],
      [{ ...call('clone', SIGCHLD), makesChild: true }, EPERM],
      [{ ...call('clone', NEW_USER | SIGCHLD), makesChild: true }, EPERM],
      [{ ...call('clone', THREAD_FLAGS | NEW_USER, 0x801000), makesChild: true }, EPERM],
      [call('clone3', 0, 0), ENOSYS],
      [call('socket', 1, 1, 0), EPERM],
      [call('socket', 2, 1, 0), EPERM],
      [call('socket', 16, 3, 0), EPERM],
      [call('socketpair', 1, 1, 0, 0x800100), EPERM],
      [call('connect', 3, 0, 0), ENOSYS],
      [call('sendmsg', 3, 0, 0), ENOSYS],
      [call('recvmsg', 3, 0, 0), ENOSYS],
      [call('kill', -1, 9), EPERM],
      [call('io_uring_setup', 8, 0x800100), ENOSYS],
      [call('memfd_create', 'x', 0), ENOSYS],
      [call('execveat', 3, '', 0, 0, 0x1000), ENOSYS],
      [call('personality', 0xffffffff), ENOSYS],
      // To outlive the host.
      [call('prctl', 1, 0), EPERM],
      // To put characters into a terminal.
      [call('ioctl', 2, 0x5412, 'x'), -25],
      [call('prlimit64', 2, 7, 0, 0x800100), EPERM],
      [call('openat', -100, '/bin/node', 2), -30],
      [{ number: 100_000 }, ENOSYS],
    ];
    const { answer, stderr } = await runRaw(
      jail,
      attempts.map(([attempt]) => attempt),
    );
    expect({ results: rawResults(answer), stderr }).toEqual({
      results: attempts.map(([, verdict]) => verdict),
      stderr: '',
    });
  });

  test.each<[string, RawCall]>([
    ['ptrace', call('ptrace', 16, 2)],
    ['process_vm_readv', call('process_vm_readv', 2)],
    ['mount', call('mount', 'none', '/lib', 'tmpfs')],
    ['umount2', call('umount2', '/lib', 2)],
    ['unshare', call('unshare', NEW_USER)],
    ['setns', call('setns', 3, 0)],
    ['pivot_root', call('pivot_root', '/', '/')],
    ['bpf', call('bpf', 0)],
    ['keyctl', call('keyctl', 0, -3, 0)],
    ['userfaultfd', call('userfaultfd', 0)],
    ['open_by_handle_at', call('open_by_handle_at', 3)],
    ['the table of x32', { number: 0x40000000 + SYSCALL_NUMBERS.write[0], arguments: [3, 'x', 1] }],
    ['the table of 32-bit programs', { number: 4, arguments: [3, 0x800000, 1], through32Bit: true }],
  ])('is killed for %s', async (_, attempt) => {
    const { answer, code } = await runRaw(jail, [attempt]);
    expect({ answer: answer.length, code }).toEqual({ answer: 0, code: ENDED_BY_FILTER });
  });

  test('gets no more threads than its limit', async () => {
    const results = rawResults(
      (
        await runRaw(
          jail,
          Array.from({ length: 40 }, () => thread),
          20,
        )
      ).answer,
    );
    expect(results.filter((result) => result > 0)).toHaveLength(19);
    expect(results.slice(19).every((result) => result === EAGAIN)).toBe(true);
  });

  test('that starts a program finds no shell, and keeps the filter', async () => {
    using folder = openFolder();
    const interpreterPath = folder.write(
      'first',
      rawProgram([call('execve', '/bin/sh', 0, 0), call('execve', '/codemode/second', 0, 0)]),
    );
    const from = folder.write('second', rawProgram([call('socket', 2, 1, 0)]));
    const run = await runJailed(
      jail.spawn(nodeProgram('', { interpreterPath, files: [{ from, to: '/codemode/second' }] })),
    );
    // One answer: that of the second program.
    expect(rawResults(run.answer)).toEqual([EPERM]);
  });
});

const namespaces = await jailForTests('namespaces', X64);
describe('machine code in a jail of level namespaces', namespaces.options, () => {
  const jail = namespaces.jail as Jail;

  test('has no capability, no other process to reach, and no way to a namespace of its own', async () => {
    const attempts: [RawCall, number][] = [
      [call('mount', 'none', '/bin', 'tmpfs', 0, 0), EPERM],
      [call('umount2', '/bin/node', 2), EPERM],
      [call('pivot_root', '/', '/'), EPERM],
      [call('chroot', '/bin'), EPERM],
      [call('sethostname', 'x', 1), EPERM],
      [call('unshare', NEW_USER), ENOSPC],
      [{ ...call('clone', NEW_USER | SIGCHLD), makesChild: true }, ENOSPC],
      [call('unshare', 0x20000), EPERM],
      [call('ptrace', 16, process.pid), ESRCH],
      [call('kill', process.pid, 9), ESRCH],
      [call('setresuid', 1000, 1000, 1000), -22],
      [call('bpf', 5, 0x800100, 128), EPERM],
      [call('prlimit64', process.pid, 7, 0, 0x800100), ESRCH],
    ];
    const { answer, stderr } = await runRaw(
      jail,
      attempts.map(([attempt]) => attempt),
    );
    expect({ results: rawResults(answer), stderr }).toEqual({
      results: attempts.map(([, verdict]) => verdict),
      stderr: '',
    });
  });

  test('gets no more processes than its limit', async () => {
    const results = rawResults(
      (
        await runRaw(
          jail,
          Array.from({ length: 40 }, () => fork),
          20,
        )
      ).answer,
    );
    expect(results.filter((result) => result > 0)).toHaveLength(19);
    expect(results.slice(19).every((result) => result === EAGAIN)).toBe(true);
  });
});
