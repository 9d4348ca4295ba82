import { JsonExcessCounter } from '../../../lib/text/json-excess-counter.js';
import type { ReadBudget } from '../read-budget.js';
import { EventDataCounter } from './event-data-counter.js';
import { MarkRemover } from './mark-remover.js';

/** Events that are passed on in one turn of the event loop. */
const EVENTS_PER_TURN = 100;
/** Lines without data that cost as much as one message. Servers send a comment now and then, to keep a stream open. */
const OTHER_LINES_PER_MESSAGE = 10;
/** A batch is parsed synchronously. No request of ours has a larger batch as its answer. */
const MAX_BATCH_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const OPENING_BRACKET = 0x5b;

export interface BodyOptions {
  readonly maxMessageBytes: number;
  readonly budget: ReadBudget;
  readonly onOversize: (maxBytes: number) => void;
  /** `excess`: what a message had too much of. */
  readonly onExcess: (excess: string) => void;
  /** True for an event stream, in which messages end at blank lines. Otherwise the whole body is one message. */
  readonly isStream: boolean;
}

/** The body of an answer, read as fast as the server's budget allows. Unread data stays in the server's socket. */
export function budgetedBody(options: BodyOptions): TransformStream<Uint8Array, Uint8Array> {
  const { maxMessageBytes, budget, onOversize, onExcess, isStream } = options;
  const events = isStream ? new EventDataCounter() : undefined;
  const counter = events ?? new JsonExcessCounter();
  const marks = new MarkRemover();
  let bytes = 0;
  let isBatch: boolean | undefined;
  return new TransformStream({
    async transform(received, controller) {
      budget.read(received.length);
      const chunk = marks.remove(received);
      if (!isStream) isBatch ??= beginsBatch(chunk);
      const longest = Math.min(isBatch === true ? MAX_BATCH_BYTES : maxMessageBytes, budget.maxMessageBytes);
      for (const piece of isStream ? piecesOf(chunk) : [chunk]) {
        const end = isStream ? lastBlankLine(piece) : -1;
        bytes = end === -1 ? bytes + piece.length : piece.length - end;
        if (bytes > longest) {
          onOversize(longest);
          if (longest < maxMessageBytes) budget.tooLong();
          return controller.error(new RangeError(`a message is longer than ${longest} bytes`));
        }
        counter.add(piece);
        for (
          let lines = events?.takeOtherLines() ?? 0;
          lines >= OTHER_LINES_PER_MESSAGE;
          lines -= OTHER_LINES_PER_MESSAGE
        )
          budget.unasked();
        const { excess } = counter;
        if (excess !== undefined) {
          onExcess(excess);
          return controller.error(new RangeError(`a message has ${excess}`));
        }
        controller.enqueue(piece);
        if (end !== -1) await nextTurn();
        await budget.ready();
        if (budget.isOver) return controller.error(new RangeError('the server sends more than is read of any server'));
      }
    },
  });
}

/** Splits a chunk into pieces of a hundred events. */
function piecesOf(chunk: Uint8Array): Uint8Array[] {
  const buffer = bufferOf(chunk);
  const pieces: Uint8Array[] = [];
  let start = 0;
  let events = 0;
  for (let at = buffer.indexOf(NEWLINE); at !== -1; at = buffer.indexOf(NEWLINE, at + 1)) {
    const isBlank = buffer[at + 1] === NEWLINE || (buffer[at + 1] === RETURN && buffer[at + 2] === NEWLINE);
    if (!isBlank || ++events % EVENTS_PER_TURN !== 0) continue;
    pieces.push(chunk.subarray(start, at + 1));
    start = at + 1;
  }
  if (start < chunk.length) pieces.push(chunk.subarray(start));
  return pieces;
}

function lastBlankLine(chunk: Uint8Array): number {
  const buffer = bufferOf(chunk);
  return Math.max(buffer.lastIndexOf('\n\n'), buffer.lastIndexOf('\n\r\n'));
}

function beginsBatch(chunk: Uint8Array): boolean | undefined {
  const first = chunk.find((byte) => byte > 0x20);
  return first === undefined ? undefined : first === OPENING_BRACKET;
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
