import { Allowance, type AllowanceOptions } from '../../lib/allowance.js';

/** What one server may send unsolicited: progress, log lines, questions, pings, noise, duplicate answers. */
export interface ReadLimits {
  readonly messages: AllowanceOptions;
  readonly bytes: AllowanceOptions;
  /** A server that stays over its budget for this long is cut off. Until then it is only read more slowly. */
  readonly patienceMs: number;
  /** Our answers to a server's own requests that it has not read. */
  readonly maxUntakenAnswers: number;
}

/** Results of tools may be large. Nothing else is. */
export type RequestKind = 'call' | 'other';

const MEBIBYTE = 1024 * 1024;

/**
 * Far above what servers do: a server that reports each of 50,000 files it looks at is not slowed down. A message costs the host
 * some 30 µs, so a flood takes about a seventh of its time until it is cut off.
 */
export const READ_LIMITS: ReadLimits = {
  messages: { burst: 50_000, perSecond: 5_000 },
  bytes: { burst: 64 * MEBIBYTE, perSecond: 8 * MEBIBYTE },
  patienceMs: 5_000,
  maxUntakenAnswers: 1_000,
};

/** Rejecting a line that is not a message costs more than reading a message. */
const NOISE_COST = 5;
/** The longest unsolicited message: a question to a model with a picture in it fits. */
const MAX_UNASKED_BYTES = 16 * MEBIBYTE;
/** The longest answer to anything but a call: a page of tools, a handshake. */
const MAX_PAGE_BYTES = 32 * MEBIBYTE;
/** A cancelled request may still be answered. */
const LATE_ANSWER_MS = 60_000;

/**
 * Limits what is read from one connection to one server. Answers to our requests are free, each up to the longest message.
 * Everything else is paid from an allowance. A transport asks before it reads on, and stops reading while there is a debt: the
 * server then blocks on its own pipe or socket, and costs the host neither memory nor time.
 */
export class ReadBudget {
  readonly #limits: ReadLimits;
  readonly #maxMessageBytes: number;
  readonly #onOver: (reason: string) => void;
  readonly #messages: Allowance;
  readonly #bytes: Allowance;
  /** Unanswered requests: tool calls, and all others. */
  readonly #due = { call: 0, other: 0 };
  #lateUntilMs = 0;
  #freeBytes = 0;
  #untakenAnswers = 0;
  #isOver = false;

  constructor(maxMessageBytes: number, onOver: (reason: string) => void, limits: ReadLimits = READ_LIMITS) {
    this.#maxMessageBytes = maxMessageBytes;
    this.#onOver = onOver;
    this.#limits = limits;
    this.#messages = new Allowance(limits.messages, performance.now());
    this.#bytes = new Allowance(limits.bytes, performance.now());
  }

  /** Set once, before the server is cut off. Nothing more is read from it. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The longest message that is accepted now. */
  get maxMessageBytes(): number {
    if (this.#isCallDue) return this.#maxMessageBytes;
    return Math.min(this.#due.other > 0 ? MAX_PAGE_BYTES : MAX_UNASKED_BYTES, this.#maxMessageBytes);
  }

  /** The host sends a request. */
  asked(kind: RequestKind): void {
    this.#due[kind] += 1;
  }

  /** The request was answered, or never will be. */
  answered(kind: RequestKind): void {
    this.#due[kind] -= 1;
    this.#freeBytes = 0;
  }

  /** Nobody waits for the answer any more, but it may still arrive. */
  cancelled(kind: RequestKind): void {
    this.#due[kind] -= 1;
    if (kind === 'call') this.#lateUntilMs = performance.now() + LATE_ANSWER_MS;
  }

  read(bytes: number): void {
    const due = this.#due.call + this.#due.other;
    if (due > 0 || this.#isCallDue) {
      this.#freeBytes += bytes;
      if (this.#freeBytes <= this.maxMessageBytes * Math.max(1, due)) return;
    }
    this.#bytes.take(bytes, performance.now());
  }

  /** An unsolicited message. */
  unasked(): void {
    this.#messages.take(1, performance.now());
  }

  /** Something that is not a message. */
  noise(): void {
    this.#messages.take(NOISE_COST, performance.now());
  }

  /** A message that is longer than the current limit. */
  tooLong(): void {
    this.noise();
    if (this.#due.other > 0)
      this.#end(`it sent more than ${MAX_PAGE_BYTES / MEBIBYTE} MiB in one message that is not the result of a tool`);
  }

  /** Milliseconds until the next chunk may be read. A server that was in debt for too long is cut off here. */
  waitMs(): number {
    const nowMs = performance.now();
    const { messages, bytes, patienceMs } = this.#limits;
    if (this.#messages.inDebtMs(nowMs) > patienceMs) this.#end(flood(`${messages.perSecond} messages`, patienceMs));
    if (this.#bytes.inDebtMs(nowMs) > patienceMs)
      this.#end(flood(`${Math.floor(bytes.perSecond / MEBIBYTE)} MiB`, patienceMs));
    return Math.max(this.#messages.waitMs(nowMs), this.#bytes.waitMs(nowMs));
  }

  /** Waits while there is a debt. For transports that pass on what they read one piece at a time. */
  async ready(): Promise<void> {
    for (let waitMs = this.waitMs(); waitMs > 0 && !this.#isOver; waitMs = this.waitMs())
      await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, MAX_WAIT_MS)));
  }

  /** A response to the server's own request is being sent. A server that does not read responses cannot make the host buffer thousands. */
  async answering(sending: Promise<void>): Promise<void> {
    this.#untakenAnswers += 1;
    const { maxUntakenAnswers } = this.#limits;
    if (this.#untakenAnswers > maxUntakenAnswers)
      this.#end(`it sends requests and does not read the answers: ${maxUntakenAnswers} are waiting for it`);
    try {
      await sending;
    } finally {
      this.#untakenAnswers -= 1;
    }
  }

  get #isCallDue(): boolean {
    return this.#due.call > 0 || performance.now() < this.#lateUntilMs;
  }

  #end(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onOver(reason);
  }
}

/** A wait is checked at least this often: the patience for a flooding server may run out in the meantime. */
export const MAX_WAIT_MS = 100;

function flood(rate: string, patienceMs: number): string {
  return `it sent more than ${rate} a second unsolicited, for ${patienceMs / 1_000} s`;
}
