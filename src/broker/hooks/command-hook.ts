import { spawn } from 'node:child_process';
import type { HookDecision, HookTarget } from '../../domain/hook.js';
import { signalGroup } from '../../lib/files/process-group.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { ChildGroups } from '../../upstream/mcp/stdio/stdio-groups.js';
import { denied, readDecision } from './read-decision.js';

/** Exit status of a command that refuses; its stderr is the reason. The one that hooks of other agents use. */
const DENIES = 2;
/** What is read of each stream. A longer answer is none. */
const MAX_OUTPUT_BYTES = 64 * 1024;

type CommandTarget = Extract<HookTarget, { kind: 'command' }>;

/** What commands are started with, and who ends them with this process, however it ends. */
export interface CommandSurroundings {
  readonly environment: Readonly<Record<string, string>>;
  readonly groups: ChildGroups;
}

/** Runs the command with `event` on its stdin. Throws where it gives no usable answer, or `signal` ends it. */
export function runCommandHook(
  { command, args, cwd }: CommandTarget,
  event: string,
  { environment, groups }: CommandSurroundings,
  signal: AbortSignal,
): Promise<HookDecision> {
  return new Promise((resolve, reject) => {
    // Nothing would end it: the signal has fired already.
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
      // A process that has left the group may hold the pipes open for as long as it likes.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const onAbort = (): void => end(new Error('it gave no answer in time'));
    const stdout = collect(child.stdout, end);
    const stderr = collect(child.stderr, end);
    signal.addEventListener('abort', onAbort, { once: true });
    child.once('error', (error) => {
      signal.removeEventListener('abort', onAbort);
      reject(new Error(`it could not be started: ${error.message}`));
    });
    child.once('close', (status, killedBy) => {
      signal.removeEventListener('abort', onAbort);
      // Ends what it left running in the background.
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
    // It may end without reading.
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
