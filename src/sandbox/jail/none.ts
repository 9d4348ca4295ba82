import { becomeWorker } from './bubblewrap.js';
import type { JailedProgram, Spawn } from './jail.js';
import { fileLimitArgument, limitArguments } from './limits.js';
import type { Machine } from './machine.js';

/**
 * Level `none`: an ordinary process of the host's own user, which sees everything that the host sees. Limits and "dies with the
 * host" apply only if util-linux is installed. Pure.
 */
export function plainSpawn(program: JailedProgram, machine: Pick<Machine, 'tools' | 'hardLimits'>): Spawn {
  const { setpriv, prlimit } = machine.tools;
  const paths = new Map(program.files.map(({ from, to }) => [to, from]));
  const { limits } = program;
  const rlimits = [...limitArguments(limits, machine.hardLimits), fileLimitArgument(limits, machine.hardLimits)];
  const command = [
    ...(setpriv === undefined ? [] : [setpriv, ...becomeWorker(undefined), '--no-new-privs', '--']),
    ...(prlimit === undefined ? [] : [prlimit, ...rlimits, '--']),
    program.interpreterPath,
    // Without a jail, an argument that names a file by its path inside is replaced by the real path.
    ...program.interpreterArguments.map((argument) => paths.get(argument) ?? argument),
  ];
  const [file = program.interpreterPath, ...args] = command;
  return { file, args, env: { UV_USE_IO_URING: '0', ...program.environment }, descriptors: [] };
}
