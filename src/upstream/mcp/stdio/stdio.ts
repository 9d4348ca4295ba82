import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { StdioTarget } from '../../../domain/targets/stdio.js';
import { Allowance } from '../../../lib/allowance.js';
import { type Deferred, deferred } from '../../../lib/async/deferred.js';
import { within } from '../../../lib/async/within.js';
import { signalGroup } from '../../../lib/files/process-group.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { oneLine, TextTail } from '../../../lib/text/bounded-text.js';
import { parseMessages } from '../calls/messages.js';
import { NotSentError } from '../failures.js';
import { MAX_WAIT_MS, type ReadBudget } from '../read-budget.js';
import { withoutStackFrames } from '../without-stack-frames.js';
import { notMcp, STDERR_TITLE } from './not-mcp.js';
import type { ChildGroups } from './stdio-groups.js';
import { LineSplitter } from './stdio-lines.js';

/** How much of a server's stderr is kept: its end, which has the reason of a crash. */
const STDERR_TAIL_BYTES = 8 * 1024;
/** The grace period between the end of stdin and SIGTERM, and again between SIGTERM and SIGKILL. */
const STOP_GRACE_MS = 1_000;
/** The last output of a process may arrive after its exit. A grandchild that holds the pipe is not waited for. */
const DRAIN_MS = 250;
/** Lines that are read in one turn of the event loop. The next turn continues. */
const LINES_PER_TURN = 100;
/** Messages that are sent together have fewer characters; a longer one is sent alone. */
const MAX_WRITE = 1024 * 1024;
/** How fast a server's stderr is read. A server that writes faster blocks. */
const STDERR_BYTES = { burst: 64 * 1024 * 1024, perSecond: 8 * 1024 * 1024 };

interface Outgoing {
  lines: string;
  readonly written: Deferred<void>;
}

export interface StdioOptions {
  readonly target: StdioTarget;
  readonly baseEnvironment: Readonly<Record<string, string>>;
  readonly maxMessageBytes: number;
  readonly budget: ReadBudget;
  readonly groups: ChildGroups;
  /** Called with lines on stdout that are not messages. */
  readonly onNoise: (line: string) => void;
}

/** A server as a child process, with lines of JSON on its stdin and stdout. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #options: StdioOptions;
  readonly #stderr = new TextTail(STDERR_TAIL_BYTES);
  #child: ChildProcessWithoutNullStreams | undefined;
  #exited: Promise<void> = Promise.resolve();
  /** Settled when the process has exited and its last output is read. */
  readonly #drained = deferred<void>();
  #end: string | undefined;
  /** The first line on stdout that is not a message. Only used until the first message arrives. */
  #noise: string | undefined;
  #hasSpoken = false;
  readonly #splitter: LineSplitter;
  /** Lines that were read but not processed yet: never more than those of one chunk. */
  #lines: (string | undefined)[] = [];
  #isResting = false;
  /** Outgoing lines of this turn of the event loop, and those that wait for the write before them. */
  readonly #outgoing: Outgoing[] = [];
  #isWriting = false;

  constructor(options: StdioOptions) {
    this.#options = options;
    const { maxMessageBytes, budget } = options;
    this.#splitter = new LineSplitter({ maxBytes: maxMessageBytes, maxBytesNow: () => budget.maxMessageBytes });
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** How the process ended, what it printed instead of messages, and the end of its stderr. Not masked yet. */
  diagnosis(): string | undefined {
    const stderr = withoutStackFrames(this.#stderr.text());
    const noise = this.#hasSpoken || this.#noise === undefined ? undefined : notMcp(this.#noise);
    const parts = [this.#end, noise, stderr === '' ? undefined : `${STDERR_TITLE}${stderr}`].filter(
      (part) => part !== undefined,
    );
    return parts.length === 0 ? undefined : parts.join('; ');
  }

  start(): Promise<void> {
    const { target, baseEnvironment, groups } = this.#options;
    const child = groups.start((mark) =>
      spawn(target.command, target.arguments, {
        env: { ...baseEnvironment, ...target.inherited, ...target.environment, ...mark },
        stdio: ['pipe', 'pipe', 'pipe'],
        shell: false,
        detached: true,
        windowsHide: true,
        ...omitUndefined({ cwd: target.cwd }),
      }),
    );
    this.#child = child;

    child.stdout.on('data', (chunk: Buffer) => {
      const { budget } = this.#options;
      if (budget.isOver) return;
      budget.read(chunk.length);
      try {
        this.#lines = this.#lines.concat(this.#splitter.push(chunk));
      } catch (error) {
        return this.cut((error as Error).message);
      }
      if (!this.#isResting) this.#readLines(child.stdout);
    });
    this.#readStderr(child.stderr);
    for (const stream of [child.stdin, child.stdout, child.stderr])
      stream.on('error', (error) => this.onerror?.(error));

    this.#exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        if (child.pid !== undefined) groups.remove(child.pid);
        this.#end ??=
          signal === null ? `the process ended with exit code ${code}` : `the process was ended by ${signal}`;
        resolve();
        const finish = (): void => {
          clearTimeout(timer);
          for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
          this.#drained.resolve();
          // A message that was not accepted is reported first, before the end of the connection makes its outcome unknown.
          setImmediate(() => this.#finish());
        };
        const timer = setTimeout(finish, DRAIN_MS);
        child.once('close', finish);
      });
    });
    return new Promise((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error: NodeJS.ErrnoException) => reject(new NotSentError(spawnProblem(target, error))));
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null || !child.stdin.writable) {
      return this.#notTaken('the process is gone');
    }
    const queued = this.#outgoing.reduce((sum, { lines }) => sum + lines.length, 0);
    if (child.stdin.writableLength + queued > this.#options.maxMessageBytes) {
      return Promise.reject(new NotSentError('the process does not read its input'));
    }
    const line = `${JSON.stringify(message)}\n`;
    const last = this.#outgoing.at(-1);
    if (last !== undefined && last.lines.length + line.length < MAX_WRITE) {
      last.lines += line;
      return last.written.promise;
    }
    const batch: Outgoing = { lines: line, written: deferred() };
    this.#outgoing.push(batch);
    if (last === undefined && !this.#isWriting) process.nextTick(() => this.#flush());
    return batch.written.promise;
  }

  /**
   * Messages of one turn of the event loop are sent in one write, because each write wakes the server. A write begins when the one
   * before it is done: a stream converts all that it buffers in one go, which stops the host if that is many megabytes.
   */
  #flush(): void {
    const batch = this.#isWriting ? undefined : this.#outgoing.shift();
    if (batch === undefined) return;
    this.#isWriting = true;
    this.#write(batch, () => {
      this.#isWriting = false;
      this.#flush();
    });
  }

  #write({ lines, written }: Outgoing, onDone = () => {}): void {
    this.#child?.stdin.write(lines, (error) => {
      if (error) this.#notTaken('the process does not read its input any more').catch(written.reject);
      else written.resolve();
      onDone();
    });
  }

  /** Kills the process at once because of what it sent. No grace period: the flood would continue during it. */
  cut(reason: string): void {
    this.#end = reason;
    this.#lines = [];
    this.onerror?.(new Error(reason));
    const pid = this.#child?.pid;
    if (pid !== undefined) signalGroup(pid, 'SIGKILL');
  }

  /** A broken pipe is often noticed before the process exit that explains it. */
  async #notTaken(problem: string): Promise<never> {
    await within(this.#drained.promise, STOP_GRACE_MS);
    throw new NotSentError(problem);
  }

  /** Ends stdin, then sends SIGTERM and then SIGKILL to the whole group. Resolves when the process is gone. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return this.#finish();
    for (const batch of this.#outgoing.splice(0)) this.#write(batch);
    child.stdin.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if ((await within(this.#exited, STOP_GRACE_MS)) !== 'late') break;
      signalGroup(child.pid, signal);
    }
    await this.#exited;
    this.#finish();
  }

  /** Processes some lines, then stops reading until other work had its turn and the budget has room. */
  #readLines(stdout: Readable): void {
    const { budget } = this.#options;
    for (const line of this.#lines.splice(0, LINES_PER_TURN)) {
      if (!budget.isOver) this.#receive(line);
    }
    const waitMs = budget.waitMs();
    if (budget.isOver || (waitMs === 0 && this.#lines.length === 0)) return;
    this.#isResting = true;
    stdout.pause();
    const readOn = (): void => {
      this.#isResting = false;
      this.#readLines(stdout);
      if (!this.#isResting && !budget.isOver) stdout.resume();
    };
    if (waitMs === 0) setImmediate(readOn);
    else setTimeout(readOn, Math.min(waitMs, MAX_WAIT_MS)).unref();
  }

  #readStderr(stderr: Readable): void {
    const allowance = new Allowance(STDERR_BYTES, performance.now());
    stderr.on('data', (chunk: Buffer) => {
      this.#stderr.write(chunk);
      allowance.take(chunk.length, performance.now());
      const waitMs = allowance.waitMs(performance.now());
      if (waitMs === 0) return;
      stderr.pause();
      setTimeout(() => stderr.resume(), waitMs).unref();
    });
  }

  #receive(line: string | undefined): void {
    if (line === undefined) {
      this.#options.budget.tooLong();
      return this.#options.onNoise('a message that was too long to be read');
    }
    if (line.trim() === '') return this.#options.budget.unasked();
    let messages: JSONRPCMessage[];
    try {
      messages = parseMessages(line);
    } catch {
      const shown = oneLine(line, 120);
      this.#noise ??= shown;
      this.#options.budget.noise();
      this.#options.onNoise(shown);
      return;
    }
    this.#hasSpoken = true;
    for (const message of messages) this.onmessage?.(message);
  }

  #finish(): void {
    const { onclose } = this;
    delete this.onclose;
    onclose?.();
  }
}

function spawnProblem(target: StdioTarget, error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') {
    if (target.cwd !== undefined && !existsSync(target.cwd))
      return `its folder ${JSON.stringify(target.cwd)} does not exist; make it, or correct \`cwd\` of this server`;
    const isLine = /\S\s+\S/.test(target.command);
    const todo = isLine
      ? 'write its first word as `command` and the others as `args`'
      : 'install it, or correct `command` of this server';
    return `command not found: ${oneLine(target.command, 200)}; ${todo}`;
  }
  if (error.code === 'EACCES')
    return `the command ${JSON.stringify(target.command)} may not be executed; check its permissions`;
  return `the command ${JSON.stringify(target.command)} could not be started (${error.code ?? error.message})`;
}
