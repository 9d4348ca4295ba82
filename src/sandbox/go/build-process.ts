import { randomUUID } from 'node:crypto';
import { HostError } from '../../domain/errors.js';
import type { Failure, RunId } from '../../domain/run.js';
import { deferred } from '../../lib/async/deferred.js';
import type { ProcessStart, ProcessToHost } from '../../wire/messages.js';
import type { Jail, JailedProgram } from '../jail/jail.js';
import { ProgramProcess } from '../processes/program-process.js';

/** The outcome of a build in its jail: files, or why there are none. */
export interface BuildResult {
  readonly files: ReadonlyMap<string, Buffer>;
  readonly failure: Failure | undefined;
}

export interface BuildOptions {
  readonly jail: Jail;
  readonly build: string;
  readonly describe: (workspace: string) => JailedProgram;
  readonly order: ProcessStart;
  readonly timeoutMs: number;
  /** The total size of the files that it may return. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

const MAX_FILES = 2_000;
/** One path segment of our own format: a returned file is stored under it. */
const FILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.~-]*$/;
const MAX_COMPLAINT_CHARACTERS = 2_000;

/**
 * Runs one build in its own jail. Only the files returned through the channel leave it: it can write to no folder of the host, so
 * it can spoil only its own answer. The source is an agent's and may have taken over the compiler.
 */
export async function runBuild(options: BuildOptions): Promise<BuildResult> {
  const { jail, build, describe, timeoutMs } = options;
  if (options.signal?.aborted === true) throw new HostError('shutting_down', 'the host is closing');
  const shape = { language: 'go-build', maxMemoryBytes: 0, maxProcesses: 0, maxDiskBytes: 0 } as const;
  const running = ProgramProcess.launch(shape, { jail, build, describe });
  // The first build says hello when the builder itself is compiled, up to a minute later.
  const stop = () => running.kill();
  options.signal?.addEventListener('abort', stop);
  try {
    await running.greeted(timeoutMs);
  } finally {
    options.signal?.removeEventListener('abort', stop);
  }
  const runId = randomUUID() as RunId;
  const ended = deferred<BuildResult>();
  const files = new Map<string, Buffer>();
  let bytes = 0;
  let complaint = '';
  const refuse = (reason: string) => {
    ended.reject(new HostError('worker_lost', `the Go compiler ${reason}`));
    running.kill();
  };
  const receive = (message: ProcessToHost, body: Buffer) => {
    if (message.type === 'worker/ready' || message.type === 'call/request' || message.execution !== runId)
      return refuse('sent an unexpected message');
    if (message.type === 'process/file') {
      bytes += body.length;
      if (
        bytes > options.maxBytes ||
        files.size >= MAX_FILES ||
        files.has(message.name) ||
        !FILE_NAME.test(message.name)
      )
        return refuse('sent more than it was asked for');
      // A copy, because the receive buffer may be much larger.
      files.set(message.name, Buffer.from(body));
      return;
    }
    ended.resolve({ files, failure: message.failure ?? undefined });
    running.kill();
  };
  const cancel = () => refuse('was stopped, because the host is closing');
  const timer = setTimeout(() => refuse(`took more than ${timeoutMs} ms`), timeoutMs);
  options.signal?.addEventListener('abort', cancel);
  running.listen({
    message: receive,
    stdout: () => {},
    stderr: (chunk) => {
      complaint = (complaint + chunk.toString()).slice(-MAX_COMPLAINT_CHARACTERS);
    },
    violation: (reason) => refuse(`broke the protocol: ${reason}`),
    exit: ({ code, signal }) => refuse(`ended with ${signal ?? `status ${code}`} (${complaint.trim().split('\n')[0]})`),
  });
  try {
    if (running.hasExited) refuse('ended before it began');
    running.send({ type: 'process/start', execution: runId }, Buffer.from(JSON.stringify(options.order)));
    return await ended.promise;
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', cancel);
    await running.close();
  }
}
