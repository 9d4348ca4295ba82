import { HostError } from '../domain/errors.js';
import type { Failure, SourceLanguage } from '../domain/execution.js';
import type { Deferred } from '../lib/deferred.js';
import { deferred } from '../lib/deferred.js';
import type { WorkerToHost } from '../wire/messages.js';
import type { WorkerProcess } from './worker-process.js';

/** JavaScript with its source map, ready to be sent to a worker: `codeBytes` of code, then the map. */
export interface CompiledSource {
  readonly codeBytes: number;
  readonly bytes: Buffer;
}

export type Compilation =
  | { readonly ok: true; readonly compiled: CompiledSource }
  | { readonly ok: false; readonly failure: Failure };

interface Request {
  readonly number: number;
  readonly source: Buffer;
  readonly language: SourceLanguage;
  readonly answer: Deferred<Compilation>;
}

/** Well past what any source we accept takes; a parser that is still busy then is stuck in it. */
const COMPILE_TIMEOUT_MS = 10_000;

/** Sources of one caller that wait for their turn; each holds up to a megabyte. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
const MAX_WAITING = 10_000;

const UNREADABLE: Failure = {
  kind: 'syntax',
  name: 'SyntaxError',
  message: 'the source could not be parsed: it is nested too deeply, or brings the parser to its end in another way',
  hint: 'Flatten deeply nested parentheses, brackets or expressions.',
};

/**
 * The host's side of a transpiler process. One source is compiled at a time, in order; a source that kills the process is
 * a syntax error of that source, and those behind it are given to the next process.
 */
export class Transpiler {
  readonly #start: () => Promise<WorkerProcess>;
  readonly #waiting: Request[] = [];
  #waitingBytes = 0;
  #process: WorkerProcess | undefined;
  #starting: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastNumber = 0;
  #isClosed = false;

  constructor(start: () => Promise<WorkerProcess>) {
    this.#start = start;
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0;
  }

  /** Throws `sandbox_busy` when too much is waiting already. */
  async compile(source: string, language: SourceLanguage): Promise<Compilation> {
    if (this.#isClosed) throw shuttingDown();
    const bytes = Buffer.from(source, 'utf8');
    if (this.#waiting.length >= MAX_WAITING || this.#waitingBytes + bytes.length > MAX_WAITING_BYTES)
      throw new HostError('sandbox_busy', 'too many programs wait to be read; try again in a few seconds');
    const request: Request = {
      number: ++this.#lastNumber,
      source: bytes,
      language,
      answer: deferred(),
    };
    this.#waiting.push(request);
    this.#waitingBytes += bytes.length;
    if (this.#waiting.length === 1) this.#sendFirst();
    return request.answer.promise;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const request of this.#takeAll()) request.answer.reject(shuttingDown());
    clearTimeout(this.#timer);
    await this.#starting?.catch(() => {});
    await this.#process?.close();
  }

  /** Starts the process ahead of its first use. */
  warm(): Promise<void> {
    this.#starting ??= this.#open();
    return this.#starting;
  }

  async #open(): Promise<void> {
    const process = await this.#start();
    if (this.#isClosed) {
      await process.close();
      throw shuttingDown();
    }
    process.events = { message: (message, body) => this.#receive(message, body), exit: () => this.#lost(process) };
    if (process.hasExited) throw new HostError('worker_lost', 'the transpiler ended as soon as it started');
    this.#process = process;
  }

  #sendFirst(): void {
    const first = this.#waiting[0];
    if (first === undefined) return;
    if (this.#process === undefined) {
      this.warm().then(
        () => this.#sendFirst(),
        (error: unknown) => {
          this.#starting = undefined;
          for (const request of this.#takeAll()) request.answer.reject(error);
        },
      );
      return;
    }
    this.#timer = setTimeout(() => this.#process?.kill('it was stuck in a source'), COMPILE_TIMEOUT_MS);
    this.#process.send({ type: 'source/transpile', source: first.number, language: first.language }, first.source);
  }

  #receive(message: WorkerToHost, body: Buffer): void {
    const first = this.#waiting[0];
    // Whatever else it says, it is only ever asked one thing at a time.
    if (
      first === undefined ||
      (message.type !== 'source/transpiled' && message.type !== 'source/rejected') ||
      message.source !== first.number
    )
      return;
    clearTimeout(this.#timer);
    this.#takeFirst();
    if (message.type === 'source/rejected') first.answer.resolve({ ok: false, failure: message.failure });
    else
      first.answer.resolve({
        ok: true,
        compiled: { codeBytes: Math.min(message.codeBytes, body.length), bytes: body },
      });
    this.#sendFirst();
  }

  #takeFirst(): Request | undefined {
    const first = this.#waiting.shift();
    this.#waitingBytes -= first?.source.length ?? 0;
    return first;
  }

  #takeAll(): Request[] {
    this.#waitingBytes = 0;
    return this.#waiting.splice(0);
  }

  #lost(process: WorkerProcess): void {
    if (this.#process !== process) return;
    clearTimeout(this.#timer);
    this.#process = undefined;
    this.#starting = undefined;
    if (this.#isClosed) return;
    this.#takeFirst()?.answer.resolve({ ok: false, failure: UNREADABLE });
    this.#sendFirst();
  }
}

function shuttingDown(): HostError {
  return new HostError('shutting_down', 'the sandbox is shutting down');
}
