import { spawn } from 'node:child_process';
import type { HookDecision, HookTarget } from '../../domain/hook.js';
import { signalGroup } from '../../lib/files/process-group.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { ChildGroups } from '../../upstream/mcp/stdio/stdio-groups.js';
import { denied, readDecision } from './read-decision.js';

/** Exit status of a command that refuses; its stderr is the reason. Hooks of other agents use the same one. */
const DENIES = 2;
/** How much of each stream is read. A longer answer is not usable. */
const MAX_OUTPUT_BYTES = 64 * 1024;

type CommandTarget = Extract<HookTarget, { kind: 'command' }>;

/** The environment of commands, and the group that ends them with this process, however it ends. */
export interface CommandSurroundings {
  readonly environment: Readonly<Record<string, string>>;
  readonly groups: ChildGroups;
}

/** Runs the command with `event` on its stdin. Throws if it gives no usable answer, or if `signal` ends it. */
export function runCommandHook(
  { command, args, cwd }: CommandTarget,
  event: string,
  { environment, groups }: CommandSurroundings,
  signal: AbortSignal,
): Promise<HookDecision> {
  return new Promise((resolve, reject) => {
    // The signal has fired already, so nothing would end the command.
    if (signal.aborted) throw new Error('it gave no answer in time');
    const child = groups.start((mark) =>
      spawn(command, [...args], {
        env: { ...environment, ...mark },
        ...omitUndefined({ cwd }),
        stdio: ['pipe', 'pipe', 'pipe'],
        // Its own process group, so that its children end with it.
        detached: true,
      }),
    );
    const { pid } = child;
    let failure: Error | undefined;
    const end = (error: Error): void => {
      failure ??= error;
      if (pid !== undefined) signalGroup(pid, 'SIGKILL');
      // A process that has left the group may keep the pipes open indefinitely.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const onAbort = (): void => end(new Error('it gave no answer in time'));
    const stdout = collect(child.stdout, end);
    const stderr = collect(child.stderr, end);
    signal.addEventListener('abort', onAbort, { once: true });
    child.once('error', (error: NodeJS.ErrnoException) => {
      signal.removeEventListener('abort', onAbort);
      // The program reads this: the message would have the path on this machine.
      reject(new Error(`it could not be started (${error.code ?? 'unknown error'})`));
    });
    child.once('close', (status, killedBy) => {
      signal.removeEventListener('abort', onAbort);
      // Ends the processes that it left running in the background.
      if (pid !== undefined) groups.remove(pid);
      try {
        if (failure !== undefined) throw failure;
        if (status === DENIES) resolve(denied(stderr()));
        else if (status === 0) resolve(readDecision(stdout()));
        else throw new Error(killedBy === null ? `it ended with status ${status}` : `it was ended by ${killedBy}`);
      } catch (error) {
        reject(error);
      }
    });
    // The command may exit without reading its stdin.
    child.stdin.on('error', () => {});
    child.stdin.end(event);
  });
}

function collect(stream: NodeJS.ReadableStream, end: (error: Error) => void): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_OUTPUT_BYTES) end(new Error(`it wrote more than ${MAX_OUTPUT_BYTES} bytes`));
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString('utf8');
}
