import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Failure, RunId } from '../../domain/run.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { encodeFrame, FrameDecoder } from '../../wire/frames.js';
import type { HostToProcess, ProcessStart, ProcessToHost } from '../../wire/messages.js';

/** The descriptor that carries frames. Not stdout: a program's output can never be read as a frame. */
const CHANNEL_DESCRIPTOR = 3;
/** The exit status of a program whose host is gone. Nothing reads it. */
const HOST_GONE = 70;
/** Delay between two attempts to write to a full channel. */
const RETRY_MS = 1;

type Answer = Extract<HostToProcess, { type: 'call/result' | 'call/error' }>;

/**
 * The program's end of the channel. It reads in the event loop, and writes whole frames at once, so that the last message before
 * the process exits is sent after all others.
 */
export class Connection {
  readonly #socket = new Socket({ fd: CHANNEL_DESCRIPTOR, readable: true, writable: false });
  readonly #decoder = new FrameDecoder();
  #execution: RunId | undefined;
  #openCalls = 0;
  #isQuiet = false;
  onStart: ((start: ProcessStart) => void) | undefined;
  /** The program's time is nearly over. */
  onLastMoment: (() => void) | undefined;
  onAnswer: ((answer: Answer, body: Buffer) => void) | undefined;

  constructor() {
    this.#socket.on('data', (chunk: Buffer) => {
      for (const { head, body } of this.#decoder.push(chunk))
        this.#receive(JSON.parse(head.toString('utf8')) as HostToProcess, body);
    });
    this.#socket.on('error', () => {});
    // The host is gone. Not `process.exit`: handlers of the program could prevent it.
    const leave = (process as unknown as { reallyExit(code: number): never }).reallyExit.bind(process);
    this.#socket.on('end', () => leave(HOST_GONE));
  }

  /** Once the program runs, an idle channel does not keep the process alive; an open call does. */
  set isQuiet(isQuiet: boolean) {
    this.#isQuiet = isQuiet;
    this.#hold();
  }

  /** `line`: the line of the program that made the call. */
  request(call: number, target: string, argumentsJson: string, line: number | undefined): void {
    this.#openCalls++;
    this.#hold();
    this.send(
      {
        type: 'call/request',
        execution: this.#execution as RunId,
        call,
        target,
        ...omitUndefined({ line }),
      },
      Buffer.from(argumentsJson),
    );
  }

  sendEnd(failure: Failure | null, exitCode: number, result: string): void {
    const execution = this.#execution as RunId;
    this.send({ type: 'process/end', execution, failure, exitCode: exitCode & 0xff }, Buffer.from(result));
  }

  send(message: ProcessToHost, body?: Uint8Array): void {
    for (const part of encodeFrame(message, body)) writeAll(part);
  }

  #receive(message: HostToProcess, body: Buffer): void {
    if (message.type === 'process/start') {
      this.#execution = message.execution;
      this.onStart?.(JSON.parse(body.toString('utf8')) as ProcessStart);
    } else if (message.type === 'call/result' || message.type === 'call/error') {
      this.#openCalls--;
      this.#hold();
      this.onAnswer?.(message, body);
    } else if (message.type === 'process/time' && message.leftMs === 0 && !message.isHeld) this.onLastMoment?.();
  }

  #hold(): void {
    if (this.#isQuiet && this.#openCalls === 0) this.#socket.unref();
    else this.#socket.ref();
  }
}

const pause = new Int32Array(new SharedArrayBuffer(4));

/** The event loop shares the socket, so it is non-blocking. The host always reads. */
function writeAll(bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(CHANNEL_DESCRIPTOR, bytes, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      Atomics.wait(pause, 0, 0, RETRY_MS);
    }
  }
}
