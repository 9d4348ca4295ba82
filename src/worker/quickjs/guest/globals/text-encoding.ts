// TextEncoder and TextDecoder for UTF-8. The engine has no native codec, but base64, escape and the URI functions are native:
// converting bytes through them is about forty times faster than a loop over bytes.

interface Base64Bytes {
  toBase64(): string;
}
interface Base64Constructor {
  fromBase64(text: string): Uint8Array;
}
declare const atob: (base64: string) => string;
declare const btoa: (binary: string) => string;

/** Saved now: V8 has these only while it boots. */
const apply = Reflect.apply;
const fromBase64 = (Uint8Array as unknown as Base64Constructor).fromBase64.bind(Uint8Array);
const { toBase64 } = Uint8Array.prototype as Uint8Array & Base64Bytes;

/** Bytes or characters processed at once: the conversions hold several copies of a piece, and a run's memory is limited. */
const PIECE = 96 * 1024;
/** Well below the 65,535 that the engine allows in one call. */
const MAX_ARGUMENTS = 16_384;
const NOT_ASCII = /[^\0-\x7f]/;
const UTF8_LABELS = ['unicode-1-1-utf-8', 'unicode11utf8', 'unicode20utf8', 'utf-8', 'utf8', 'x-unicode20utf8'];

/** `TextEncoder` of the Encoding standard. */
export class TextEncoder {
  get encoding(): string {
    return requireEncoder(this) && 'utf-8';
  }

  encode(input: unknown = ''): Uint8Array {
    requireEncoder(this);
    return encodeUtf8(toWellFormed(input));
  }

  /** Writes as many whole characters as fit. */
  encodeInto(source: unknown, destination: unknown): { read: number; written: number } {
    requireEncoder(this);
    if (!(destination instanceof Uint8Array))
      throw new TypeError('TextEncoder.encodeInto: the destination must be a Uint8Array');
    const text = toWellFormed(source);
    // At most one UTF-16 unit per byte can be read.
    const read = cutBefore(text, Math.min(text.length, destination.length));
    let bytes = encodeUtf8(text.slice(0, read));
    if (bytes.length <= destination.length) {
      destination.set(bytes);
      return { read, written: bytes.length };
    }
    let end = destination.length;
    while (((bytes[end] as number) & 0xc0) === 0x80) end--;
    bytes = bytes.subarray(0, end);
    destination.set(bytes);
    return { read: decodeValid(binaryOf(bytes)).length, written: end };
  }

  declare readonly [Symbol.toStringTag]: string;
}

/** `TextDecoder` of the Encoding standard, for UTF-8 only. */
export class TextDecoder {
  #fatal: boolean;
  #ignoreBOM: boolean;
  /** The first bytes of a character whose end was not in the last chunk: at most three bytes. */
  #pending = '';
  #isStreaming = false;
  #hasSeenStart = false;

  constructor(label: unknown = 'utf-8', options: unknown = undefined) {
    const name = `${label as string}`.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '').toLowerCase();
    if (!UTF8_LABELS.includes(name)) {
      throw new RangeError(`TextDecoder: the encoding ${JSON.stringify(name)} is not available here, only utf-8 is`);
    }
    const { fatal, ignoreBOM } = dictionary(options);
    this.#fatal = Boolean(fatal);
    this.#ignoreBOM = Boolean(ignoreBOM);
  }

  get encoding(): string {
    return this.#fatal === undefined ? '' : 'utf-8';
  }
  get fatal(): boolean {
    return this.#fatal;
  }
  get ignoreBOM(): boolean {
    return this.#ignoreBOM;
  }

  decode(input: unknown = undefined, options: unknown = undefined): string {
    const bytes = input === undefined ? new Uint8Array() : bytesOf(input);
    const isLast = !dictionary(options).stream;
    if (!this.#isStreaming) {
      this.#pending = '';
      this.#hasSeenStart = false;
    }
    this.#isStreaming = !isLast;
    let output = '';
    for (let start = 0; start < bytes.length; start += PIECE) {
      output += this.#decodePiece(this.#pending + binaryOf(bytes.subarray(start, start + PIECE)), false);
    }
    if (isLast) output += this.#decodePiece(this.#pending, true);
    return output;
  }

  #decodePiece(binary: string, isLast: boolean): string {
    const complete = isLast ? binary.length : completeLength(binary);
    this.#pending = isLast ? '' : binary.slice(complete);
    let text = this.#decodeComplete(complete === binary.length ? binary : binary.slice(0, complete));
    if (text !== '' && !this.#hasSeenStart) {
      this.#hasSeenStart = true;
      if (!this.#ignoreBOM && text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    return text;
  }

  #decodeComplete(binary: string): string {
    if (!NOT_ASCII.test(binary)) return binary;
    try {
      return decodeValid(binary);
    } catch {
      if (!this.#fatal) return decodeLeniently(binary);
      this.#pending = '';
      throw Object.assign(new TypeError('The encoded data was not valid for encoding utf-8'), {
        code: 'ERR_ENCODING_INVALID_ENCODED_DATA',
      });
    }
  }

  declare readonly [Symbol.toStringTag]: string;
}
shapeLikeWebIdl(TextEncoder, 'TextEncoder');
shapeLikeWebIdl(TextDecoder, 'TextDecoder');

function encodeUtf8(text: string): Uint8Array {
  if (text.length <= PIECE) return encodePiece(text);
  const pieces: Uint8Array[] = [];
  let total = 0;
  for (let start = 0; start < text.length; ) {
    const end = cutBefore(text, Math.min(text.length, start + PIECE));
    const piece = encodePiece(text.slice(start, end));
    pieces.push(piece);
    total += piece.length;
    start = end;
  }
  const bytes = new Uint8Array(total);
  let offset = 0;
  for (const piece of pieces) {
    bytes.set(piece, offset);
    offset += piece.length;
  }
  return bytes;
}

function encodePiece(text: string): Uint8Array {
  const binary = NOT_ASCII.test(text) ? unescape(encodeURIComponent(text)) : text;
  return fromBase64(btoa(binary));
}

/** `end`, or one less if `end` would split a surrogate pair. */
function cutBefore(text: string, end: number): number {
  const isPairCut = end < text.length && (text.charCodeAt(end) & 0xfc00) === 0xdc00;
  return isPairCut ? end - 1 : end;
}

/** One character per byte. */
function binaryOf(bytes: Uint8Array): string {
  return atob(apply(toBase64, bytes, []) as string);
}

/** Throws if the bytes are not UTF-8. */
function decodeValid(binary: string): string {
  return decodeURIComponent(escape(binary));
}

/** How much of `binary` can be decoded now. The rest is the start of a character that may still be completed. */
function completeLength(binary: string): number {
  const length = binary.length;
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = binary.charCodeAt(length - back);
    if (byte < 0x80) return length;
    if (byte >= 0xc0) return INCOMPLETE.test(binary.slice(length - back)) ? length - back : length;
  }
  return length;
}
const INCOMPLETE =
  /^(?:[\xc2-\xdf]|\xe0[\xa0-\xbf]?|[\xe1-\xec\xee\xef][\x80-\xbf]?|\xed[\x80-\x9f]?|\xf0(?:[\x90-\xbf][\x80-\xbf]?)?|[\xf1-\xf3](?:[\x80-\xbf][\x80-\xbf]?)?|\xf4(?:[\x80-\x8f][\x80-\xbf]?)?)$/;

/**
 * Decodes any bytes. The longest invalid prefix of a character becomes one U+FFFD, and so does each byte that can start no
 * character. A loop is slow in an interpreter, 0.3 s for a megabyte of noise, but valid text never gets here.
 */
function decodeLeniently(binary: string): string {
  const units = new Uint16Array(binary.length);
  let count = 0;
  for (let index = 0; index < binary.length; ) {
    const first = binary.charCodeAt(index++);
    if (first < 0x80) {
      units[count++] = first;
      continue;
    }
    let missing = first < 0xc2 || first > 0xf4 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    if (missing === 0) {
      units[count++] = 0xfffd;
      continue;
    }
    // No overlong forms, no surrogates, nothing beyond U+10FFFF: the second byte shows all three.
    let lowest = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
    let highest = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
    let point = first & (0x3f >> missing);
    for (; missing > 0; missing--) {
      const next = binary.charCodeAt(index);
      // Also false for the NaN after the end.
      if (!(next >= lowest && next <= highest)) break;
      lowest = 0x80;
      highest = 0xbf;
      point = (point << 6) | (next & 0x3f);
      index++;
    }
    if (missing > 0) units[count++] = 0xfffd;
    else if (point < 0x10000) units[count++] = point;
    else {
      units[count++] = 0xd7c0 + (point >> 10);
      units[count++] = 0xdc00 | (point & 0x3ff);
    }
  }
  let text = '';
  for (let start = 0; start < count; start += MAX_ARGUMENTS) {
    text += String.fromCharCode.apply(null, units.subarray(start, Math.min(count, start + MAX_ARGUMENTS)) as never);
  }
  return text;
}

function bytesOf(input: unknown): Uint8Array {
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  if (input instanceof ArrayBuffer || input instanceof SharedArrayBuffer) return new Uint8Array(input);
  throw new TypeError('TextDecoder.decode: the input must be an ArrayBuffer, a typed array or a DataView');
}

function dictionary(options: unknown): Record<string, unknown> {
  if (options === undefined || options === null) return {};
  if (typeof options !== 'object' && typeof options !== 'function')
    throw new TypeError('TextDecoder: options must be an object');
  return options as Record<string, unknown>;
}

function toWellFormed(input: unknown): string {
  return (`${input as string}` as string & { toWellFormed(): string }).toWellFormed();
}

function requireEncoder(value: unknown): true {
  if (!(value instanceof TextEncoder)) throw new TypeError('Value of "this" must be of type TextEncoder');
  return true;
}

function shapeLikeWebIdl(target: typeof TextEncoder | typeof TextDecoder, name: string): void {
  for (const key of Object.getOwnPropertyNames(target.prototype)) {
    if (key !== 'constructor') Object.defineProperty(target.prototype, key, { enumerable: true });
  }
  Object.defineProperty(target.prototype, Symbol.toStringTag, { value: name, configurable: true });
  // A minifier may rename the class.
  Object.defineProperty(target, 'name', { value: name, configurable: true });
}
