import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { Duplex, Writable } from 'node:stream';
import { HostError } from '../../domain/errors.js';
import { deferred } from '../../lib/async/deferred.js';
import { killGroup } from '../../lib/files/process-group.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { encodeFrame } from '../../wire/frames.js';
import type { HostToWorker, WorkerRole, WorkerToHost } from '../../wire/messages.js';
import { PROTOCOL } from '../../wire/messages.js';
import { parseWorkerMessage } from '../../wire/parse.js';
import type { Jail } from '../jail/jail.js';
import { launch, noHello } from '../jail/launch.js';
import { POOL_THREADS } from '../jail/limits.js';
import type { RuntimeFiles } from '../runtime-files.js';
import { readFrames } from './read-frames.js';
import type { WorkerShape } from './worker-shapes.js';

/** A worker that has not said hello after this time never will. */
const START_TIMEOUT_MS = 20_000;
/** Bytes that a worker may send in one frame. The largest body is a suspended program. */
const MAX_INCOMING_BYTES = 256 * 1024 * 1024;
/** Messages of one event loop turn are written in one piece up to this size. Beyond it, copying costs more. */
const MAX_JOINED_BYTES = 64 * 1024;
const MAX_STDERR_CHARACTERS = 4_096;
/** The reason of an exit that V8 itself explained. */
export const OUT_OF_MEMORY = 'it ran out of memory';
/** V8's last message, whichever part of it was refused memory. */
const V8_OUT_OF_MEMORY = /heap out of memory|Allocation failed|out of memory/i;

/**
 * How V8 dies, without a message, when the kernel refuses it memory for a typed array. The jail reports 128 plus the signal
 * number. A QuickJS worker has no such arrays, so its crash is an ordinary crash.
 */
const CRASHES: readonly NodeJS.Signals[] = ['SIGSEGV', 'SIGABRT', 'SIGILL', 'SIGTRAP', 'SIGBUS'];
const CRASH_STATUSES: readonly number[] = CRASHES.map((name) => 128 + constants.signals[name]);

function isCrash(status: number | null, signal: NodeJS.Signals | null): boolean {
  return signal === null ? status !== null && CRASH_STATUSES.includes(status) : CRASHES.includes(signal);
}

/** The user of the worker: receives its messages and its exit. */
export interface WorkerListener {
  receive(message: WorkerToHost, body: Buffer): void;
  /** The process is gone, whether it exited or was killed. Called once. */
  exited(reason: string): void;
}

/** One jailed child: started, messaged, killed. It is hostile from its first program on. */
export class WorkerProcess {
  readonly role: WorkerRole;
  readonly #child: ChildProcess;
  /** The streams for incoming and outgoing messages: see `worker/channel.ts`. */
  readonly #incoming: Duplex;
  readonly #outgoing: Writable;
  readonly #build: string;
  readonly #ready = deferred<void>();
  readonly #exited = deferred<void>();
  #unsent: Buffer[] = [];
  #isReady = false;
  #hasExited = false;
  #stderr = '';
  #reason: string | undefined;
  #listener: WorkerListener | undefined;

  private constructor({ role, flags, environment, limits }: WorkerShape, jail: Jail, files: RuntimeFiles) {
    this.role = role;
    this.#build = files.build;
    const described = jail.spawn({
      runtime: role,
      interpreterPath: process.execPath,
      interpreterArguments: [`--v8-pool-size=${POOL_THREADS}`, '--no-warnings', ...flags, ...files.arguments[role]],
      files: files.mounts[role],
      ...omitUndefined({ environment }),
      limits,
    });
    const { child, channel } = launch(described, 'pipe', 'ignore', 'pipe');
    this.#child = child;
    this.#incoming = channel;
    this.#outgoing = child.stdin as Writable;
    this.#listen();
  }

  /** Starts a worker and waits for its hello. */
  static async start(shape: WorkerShape, jail: Jail, files: RuntimeFiles): Promise<WorkerProcess> {
    const worker = new WorkerProcess(shape, jail, files);
    const timer = setTimeout(() => worker.kill(noHello(START_TIMEOUT_MS)), START_TIMEOUT_MS);
    try {
      await worker.#ready.promise;
    } finally {
      clearTimeout(timer);
    }
    worker.send({ type: 'host/hello', protocol: PROTOCOL, build: files.build });
    return worker;
  }

  listen(listener: WorkerListener): void {
    this.#listener = listener;
  }

  get hasExited(): boolean {
    return this.#hasExited;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Messages of one event loop turn are sent together: a write wakes the worker, and costs more than the message. */
  send(message: HostToWorker, body?: Uint8Array): void {
    if (this.#hasExited) return;
    if (this.#unsent.length === 0) process.nextTick(this.#flush);
    this.#unsent.push(...encodeFrame(message, body));
  }

  kill(reason: string): void {
    this.#reason ??= reason;
    if (!this.#hasExited) killGroup(this.#child);
  }

  async close(): Promise<void> {
    this.kill('it was closed');
    await this.#exited.promise;
  }

  readonly #flush = (): void => {
    const parts = this.#unsent;
    this.#unsent = [];
    if (this.#hasExited) return;
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    if (bytes <= MAX_JOINED_BYTES) {
      this.#outgoing.write(parts.length === 1 ? parts[0] : Buffer.concat(parts, bytes));
      return;
    }
    this.#outgoing.cork();
    for (const part of parts) this.#outgoing.write(part);
    this.#outgoing.uncork();
  };

  #listen(): void {
    const child = this.#child;
    readFrames(
      this.#incoming,
      MAX_INCOMING_BYTES,
      (head, body) => this.#receive(head, body),
      // After a broken frame the next one cannot be found, and this process is no longer trusted.
      (error) => this.kill(error instanceof Error ? error.message : 'it broke the protocol'),
    );
    for (const stream of [this.#incoming, this.#outgoing]) stream.on('error', () => {});
    child.stderr?.on('data', (chunk: Buffer) => {
      if (this.#stderr.length < MAX_STDERR_CHARACTERS)
        this.#stderr += chunk.toString('utf8').slice(0, MAX_STDERR_CHARACTERS);
    });
    child.on('error', (error) => this.#ended(error.message));
    // `close` rather than `exit`: everything that the worker sent before it died is read first.
    child.on('close', (status, signal) =>
      this.#ended(this.#reason ?? `it ended with ${signal ?? `status ${status}`}`, isCrash(status, signal)),
    );
  }

  #receive(head: Buffer, body: Buffer): void {
    const message = parseWorkerMessage(head);
    if (this.#isReady) this.#listener?.receive(message, body);
    else this.#greet(message);
  }

  #greet(message: WorkerToHost): void {
    if (
      message.type !== 'worker/ready' ||
      message.protocol !== PROTOCOL ||
      message.build !== this.#build ||
      message.role !== this.role
    ) {
      this.kill('it is not a worker of this build');
      return;
    }
    this.#isReady = true;
    this.#ready.resolve();
  }

  #ended(reason: string, hasCrashed = false): void {
    if (this.#hasExited) return;
    this.#hasExited = true;
    const said = this.#stderr.trim().split('\n')[0] ?? '';
    this.#ready.reject(
      new HostError('worker_lost', `a worker could not be started: ${reason}${said === '' ? '' : ` (${said})`}`),
    );
    this.#ready.promise.catch(() => {});
    this.#exited.resolve();
    // A worker that we killed did not run out of memory.
    const isExhausted =
      this.#reason === undefined && (V8_OUT_OF_MEMORY.test(this.#stderr) || (hasCrashed && this.role === 'v8'));
    this.#listener?.exited(isExhausted ? OUT_OF_MEMORY : reason);
  }
}
