import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { HostError } from '../../domain/errors.js';
import { deferred } from '../../lib/async/deferred.js';
import { killGroup } from '../../lib/files/process-group.js';
import { encodeFrame } from '../../wire/frames.js';
import { type HostToProcess, MAX_VALUE_BYTES, PROTOCOL, type ProcessToHost } from '../../wire/messages.js';
import { parseProcessMessage } from '../../wire/parse.js';
import { type Jail, type JailedProgram, WORKSPACE } from '../jail/jail.js';
import { launch, noHello } from '../jail/launch.js';
import { readFrames } from '../workers/read-frames.js';
import type { SharedSpec } from './process-spec.js';
import { hasDied } from './usage.js';

/** A process that has not said hello after this time never will. */
const START_TIMEOUT_MS = 20_000;
/** The largest message is a result, or the arguments of a call, plus its header. */
const MAX_INCOMING_BYTES = MAX_VALUE_BYTES + 512 * 1024;
/** Bytes of answers that the program has not read. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
/** Only without a jail can a descendant outlive the process and keep its output open. */
const CLOSE_GRACE_MS = 500;
const MAX_COMPLAINT_CHARACTERS = 2_048;
const RELEASE = Buffer.of(0);

/** The user of the process: receives its messages, its output and its exit. */
export interface ProcessListener {
  message(message: ProcessToHost, body: Buffer): void;
  stdout(chunk: Buffer): void;
  stderr(chunk: Buffer): void;
  /** It wrote an invalid message to the channel, or does not read its input. It is killed. */
  violation(reason: string): void;
  /** The process is gone, and all its messages have been passed on. Called once. */
  exit(ended: ProcessExit): void;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** One interpreter in its own jail, for one program: started in advance, used once, killed. */
export class ProgramProcess {
  readonly shape: SharedSpec;
  readonly #child: ChildProcess;
  readonly #channel: Duplex;
  readonly #build: string;
  readonly #ready = deferred<void>();
  readonly #exited = deferred<void>();
  /** At level `none` only, which has no private file system. */
  readonly #folder: string | undefined;
  #isReady = false;
  #hasExited = false;
  #isBroken = false;
  #complaint = '';
  /** How long we waited for a hello that never came. */
  #silentMs: number | undefined;
  #listener: ProcessListener | undefined;

  private constructor(shape: SharedSpec, { jail, build, describe }: ProcessOptions) {
    this.shape = shape;
    this.#build = build;
    if (jail.level === 'none') {
      this.#folder = mkdtempSync(join(tmpdir(), 'codemode-workspace-'));
      mkdirSync(join(this.#folder, '.tmp'));
    }
    const described = jail.spawn(describe(this.#folder ?? WORKSPACE));
    const { child, channel } = launch(described, 'pipe', 'pipe');
    this.#child = child;
    this.#channel = channel;
    this.#listen();
  }

  /** Starts a process and waits for its hello. */
  static async start(shape: SharedSpec, options: ProcessOptions): Promise<ProgramProcess> {
    const started = ProgramProcess.launch(shape, options);
    await started.greeted(options.startTimeoutMs);
    return started;
  }

  /** Starts a process that sends nothing until it is released. */
  static launch(shape: SharedSpec, options: ProcessOptions): ProgramProcess {
    return new ProgramProcess(shape, options);
  }

  /** Sends one byte before the first frame: the program that the process waits for is there. */
  release(): void {
    this.#channel.write(RELEASE);
  }

  /** Waits for the hello, and answers it. Throws `worker_lost`. */
  async greeted(timeoutMs = START_TIMEOUT_MS): Promise<void> {
    const timer = setTimeout(() => {
      this.#silentMs = timeoutMs;
      this.kill();
    }, timeoutMs);
    try {
      await this.#ready.promise;
    } finally {
      clearTimeout(timer);
    }
    this.send({ type: 'host/hello', protocol: PROTOCOL, build: this.#build });
  }

  /** From here on the listener receives everything; earlier messages are dropped. */
  listen(listener: ProcessListener): void {
    this.#listener = listener;
  }

  get hasExited(): boolean {
    return this.#hasExited;
  }

  /** Whether it can be given a program. False from the moment it dies, slightly before all its messages are read. */
  get isUsable(): boolean {
    const { exitCode, signalCode, pid } = this.#child;
    return !this.#hasExited && exitCode === null && signalCode === null && pid !== undefined && !hasDied(pid);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  send(message: HostToProcess, body?: Uint8Array): void {
    if (this.#hasExited || this.#isBroken) return;
    if (this.#channel.writableLength > MAX_UNREAD_BYTES) {
      this.#break('it does not read the answers of its calls');
      return;
    }
    for (const part of encodeFrame(message, body)) this.#channel.write(part);
  }

  /** Everything in the jail dies with the process that holds it. Without a jail, everything left in its process group dies. */
  kill(): void {
    if (!this.#hasExited) killGroup(this.#child);
  }

  /** Settles when it is gone. */
  get gone(): Promise<void> {
    return this.#exited.promise;
  }

  async close(): Promise<void> {
    this.kill();
    await this.gone;
  }

  #listen(): void {
    const child = this.#child;
    readFrames(
      this.#channel,
      MAX_INCOMING_BYTES,
      (head, body) => this.#receive(head, body),
      (error) => this.#break(error instanceof Error ? error.message : 'it broke the protocol'),
    );
    this.#channel.on('error', () => {});
    child.stdout?.on('data', (chunk: Buffer) => this.#listener?.stdout(chunk));
    child.stderr?.on('data', (chunk: Buffer) => {
      if (!this.#isReady) this.#complaint = (this.#complaint + chunk.toString()).slice(0, MAX_COMPLAINT_CHARACTERS);
      this.#listener?.stderr(chunk);
    });
    child.on('error', (error) => {
      this.#complaint ||= error.message;
      this.#ended({ code: null, signal: null });
    });
    child.on('exit', () => {
      setTimeout(() => {
        for (const stream of [this.#channel, child.stdout, child.stderr]) stream?.destroy();
      }, CLOSE_GRACE_MS).unref();
    });
    // `close` rather than `exit`: everything that the program sent before it died is read first.
    child.on('close', (code, signal) => this.#ended({ code, signal }));
  }

  #receive(head: Buffer, body: Buffer): void {
    if (this.#isBroken) return;
    const message = parseProcessMessage(head);
    if (this.#isReady) this.#listener?.message(message, body);
    else this.#greet(message);
  }

  #break(reason: string): void {
    this.#isBroken = true;
    this.#listener?.violation(reason);
    this.kill();
  }

  #greet(message: ProcessToHost): void {
    const isOurs =
      message.type === 'worker/ready' &&
      message.protocol === PROTOCOL &&
      message.build === this.#build &&
      message.role === this.shape.language;
    if (!isOurs) return this.#break('it is not a process of this build');
    this.#isReady = true;
    this.#ready.resolve();
  }

  #ended(exit: ProcessExit): void {
    if (this.#hasExited) return;
    this.#hasExited = true;
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
    const said = this.#complaint.trim().split('\n').at(-1) ?? '';
    const silentMs = this.#silentMs;
    const why = silentMs === undefined ? `it ended with ${exit.signal ?? `status ${exit.code}`}` : noHello(silentMs);
    this.#ready.reject(
      new HostError(
        'worker_lost',
        `${this.shape.language} could not be started in its jail: ${why}${said === '' ? '' : ` (${said})`}`,
      ),
    );
    this.#ready.promise.catch(() => {});
    this.#exited.resolve();
    this.#listener?.exit(exit);
  }
}

export interface ProcessOptions {
  readonly jail: Jail;
  readonly build: string;
  /** The program for the jail, given the path of its workspace. */
  readonly describe: (workspace: string) => JailedProgram;
  readonly startTimeoutMs?: number;
}
