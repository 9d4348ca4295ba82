import { standIns } from '../calls/messages.js';

/** Longer events are not parsed a second time to look for faults. */
const MAX_EVENT_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/**
 * An event stream that adds a repaired message after each malformed answer. The client library drops a malformed message and
 * continues reading. If the server keeps the stream open, the call would wait for its whole timeout. `requestId`: the one request
 * that the stream answers. An unparsable event counts as its answer.
 */
export function eventRepair(requestId: number | undefined): TransformStream<Uint8Array, Uint8Array> {
  const event = new EventBytes();
  return new TransformStream({
    transform(chunk, controller) {
      let from = 0;
      let passed = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) {
        const isEnd = event.line(chunk.subarray(from, at));
        from = at + 1;
        if (!isEnd) continue;
        const added = standIns(event.take(), requestId).map((message) => `data: ${JSON.stringify(message)}\n\n`);
        if (added.length === 0) continue;
        controller.enqueue(chunk.subarray(passed, from));
        controller.enqueue(Buffer.from(added.join('')));
        passed = from;
      }
      event.more(chunk.subarray(from));
      if (passed < chunk.length) controller.enqueue(passed === 0 ? chunk : chunk.subarray(passed));
    },
  });
}

/** The event that is being read, with its data if it is short enough. */
class EventBytes {
  #data: string[] = [];
  #isMessage = true;
  #bytes = 0;
  #line: Uint8Array[] = [];
  #lineBytes = 0;

  /** Adds part of a line whose end has not arrived yet. */
  more(part: Uint8Array): void {
    this.#bytes += part.length;
    this.#lineBytes += part.length;
    if (part.length > 0 && this.#bytes <= MAX_EVENT_BYTES) this.#line.push(part);
  }

  /** Adds the rest of a line. Returns whether the event ends with it. */
  line(rest: Uint8Array): boolean {
    this.more(rest);
    const isShort = this.#lineBytes <= 1;
    // For a long event only the end is searched.
    const line = isShort && this.#line.length === 0 ? Buffer.from(rest) : Buffer.concat(this.#line);
    this.#line = [];
    this.#lineBytes = 0;
    const end = line.length > 0 && line[line.length - 1] === RETURN ? line.length - 1 : line.length;
    if (isShort && end === 0) return true;
    const text = line.toString('utf8', 0, end);
    if (text.startsWith('data:')) this.#data.push(text.slice(text[5] === ' ' ? 6 : 5));
    else if (text.startsWith('event:')) this.#isMessage = /^event: ?(?:message)?$/.test(text);
    return false;
  }

  /** The data of the event that has ended. Empty if it was too long or is not a message. */
  take(): string {
    const isRead = this.#isMessage && this.#bytes <= MAX_EVENT_BYTES;
    const data = isRead ? this.#data.join('\n') : '';
    this.#data = [];
    this.#isMessage = true;
    this.#bytes = 0;
    return data;
  }
}
