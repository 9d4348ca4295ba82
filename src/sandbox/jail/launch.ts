import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import type { Duplex, Writable } from 'node:stream';
import { inSeconds } from '../../lib/async/seconds.js';
import { CHANNEL_FD, MAX_DESCRIPTOR_BYTES, type Spawn } from './jail.js';

export interface Launched {
  readonly child: ChildProcess;
  readonly channel: Duplex;
}

/**
 * Starts the process that a jail described: channel on descriptor 3, the jail's own descriptors filled, nothing else inherited.
 * Must be called on the main thread: the kernel ties "dies with its parent" to the thread that created the child.
 */
export function launch(
  described: Spawn,
  stderr: 'ignore' | 'pipe',
  stdout: 'ignore' | 'pipe' = 'ignore',
  stdin: 'ignore' | 'pipe' = 'ignore',
): Launched {
  const stdio: StdioOptions = [stdin, stdout, stderr, 'pipe'];
  for (const { fd, content } of described.descriptors) {
    if (content.length > MAX_DESCRIPTOR_BYTES) throw new RangeError('a descriptor of the jail holds more than a pipe');
    while (stdio.length <= fd) stdio.push('ignore');
    stdio[fd] = 'pipe';
  }
  const child = spawn(described.file, [...described.args], {
    stdio,
    env: { ...described.env },
    cwd: '/',
    // Its own process group: an interrupt typed at the host's terminal must not reach the workers.
    detached: true,
  });
  for (const { fd, content } of described.descriptors) {
    const pipe = child.stdio[fd] as Writable;
    // A jail that dies early closes its end. Its exit reports the reason, so this error is ignored.
    pipe.on('error', () => {});
    pipe.end(content);
  }
  return { child, channel: child.stdio[CHANNEL_FD] as Duplex };
}

/**
 * Why a process may not have said hello. Node hangs silently if it cannot create one of its threads, which happens when all
 * processes of a user together reach the user's limit.
 */
export function noHello(waitedMs: number): string {
  return `it did not complete the handshake within ${inSeconds(waitedMs)}: the machine is overloaded, or this user may have no more processes and threads (compare \`ulimit -u\` with \`ps -LU "$USER" | wc -l\`)`;
}
