/*
 * Values in the D-Bus wire format, limited to the types that talking to a keyring needs. Numbers are unsigned 32-bit, a dictionary
 * is a list of pairs, `ay` is bytes. Incoming values were written by another process, so everything is read with a bound.
 */

export type DbusValue = boolean | number | string | Uint8Array | DbusVariant | readonly DbusValue[];

/** A value that carries its own type. */
export interface DbusVariant {
  readonly signature: string;
  readonly value: DbusValue;
}

const ALIGNMENT: Readonly<Record<string, number>> = { y: 1, g: 1, v: 1, b: 4, u: 4, s: 4, o: 4, a: 4, '(': 8, '{': 8 };
const MAX_DEPTH = 16;
const MAX_SIGNATURE_CHARACTERS = 255;

/** Splits a signature into its complete types: `a{sv}ob` has three. */
export function splitSignature(signature: string): string[] {
  if (signature.length > MAX_SIGNATURE_CHARACTERS) throw new DbusError('a signature is too long');
  const types: string[] = [];
  for (let at = 0; at < signature.length; ) {
    const end = endOfType(signature, at, 0);
    types.push(signature.slice(at, end));
    at = end;
  }
  return types;
}

/** A message on the bus is malformed, or is an error reply. */
export class DbusError extends Error {
  /** The other side's name for the error, if it was an error reply. */
  readonly reply: string | undefined;

  constructor(message: string, reply?: string) {
    super(message);
    this.reply = reply;
  }
}

export class DbusWriter {
  #bytes: number[] = [];

  write(signature: string, values: readonly DbusValue[]): this {
    for (const [index, type] of splitSignature(signature).entries()) this.#one(type, values[index] as DbusValue);
    return this;
  }

  align(boundary: number): this {
    while (this.#bytes.length % boundary !== 0) this.#bytes.push(0);
    return this;
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }

  #one(type: string, value: DbusValue): void {
    const kind = type[0] as string;
    this.align(ALIGNMENT[kind] ?? 1);
    if (kind === 'y') this.#bytes.push(value as number);
    else if (kind === 'b' || kind === 'u') this.#number(Number(value));
    else if (kind === 's' || kind === 'o') this.#text(value as string, true);
    else if (kind === 'g') this.#text(value as string, false);
    else if (kind === 'a') this.#list(type.slice(1), value as readonly DbusValue[]);
    else if (kind === 'v') {
      const variant = value as DbusVariant;
      this.#text(variant.signature, false);
      this.#one(variant.signature, variant.value);
    } else this.write(type.slice(1, -1), value as readonly DbusValue[]);
  }

  #number(value: number): void {
    this.#bytes.push(value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, (value >>> 24) & 0xff);
  }

  #text(text: string, isLong: boolean): void {
    const bytes = Buffer.from(text);
    if (isLong) this.#number(bytes.length);
    else this.#bytes.push(bytes.length);
    this.#bytes.push(...bytes, 0);
  }

  #list(type: string, items: readonly DbusValue[] | Uint8Array): void {
    const lengthAt = this.#bytes.length;
    this.#number(0);
    // The padding before the first item does not count as part of the list.
    this.align(ALIGNMENT[type[0] as string] ?? 1);
    const start = this.#bytes.length;
    for (const item of items) this.#one(type, item);
    const end = this.#bytes.length;
    for (let byte = 0; byte < 4; byte++) this.#bytes[lengthAt + byte] = ((end - start) >>> (8 * byte)) & 0xff;
  }
}

export class DbusReader {
  readonly #bytes: Buffer;
  readonly #isLittle: boolean;
  #at = 0;

  constructor(bytes: Buffer, isLittle: boolean) {
    this.#bytes = bytes;
    this.#isLittle = isLittle;
  }

  read(signature: string, depth = 0): DbusValue[] {
    return splitSignature(signature).map((type) => this.#one(type, depth));
  }

  #one(type: string, depth: number): DbusValue {
    if (depth > MAX_DEPTH) throw new DbusError('a value is nested too deeply');
    const kind = type[0] as string;
    this.#at = Math.ceil(this.#at / (ALIGNMENT[kind] ?? 1)) * (ALIGNMENT[kind] ?? 1);
    if (kind === 'y') return this.#take(1)[0] as number;
    if (kind === 'u') return this.#number();
    if (kind === 'b') return this.#number() !== 0;
    if (kind === 's' || kind === 'o') return this.#text(this.#number());
    if (kind === 'g') return this.#text(this.#take(1)[0] as number);
    if (kind === 'a') return this.#list(type.slice(1), depth);
    if (kind === 'v') {
      const signature = this.#text(this.#take(1)[0] as number);
      if (splitSignature(signature).length !== 1) throw new DbusError('a variant is not one value');
      return { signature, value: this.#one(signature, depth + 1) };
    }
    return this.read(type.slice(1, -1), depth + 1);
  }

  #list(type: string, depth: number): DbusValue {
    const length = this.#number();
    const boundary = ALIGNMENT[type[0] as string] ?? 1;
    this.#at = Math.ceil(this.#at / boundary) * boundary;
    if (type === 'y') return new Uint8Array(this.#take(length));
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new DbusError('a list is longer than its message');
    const items: DbusValue[] = [];
    while (this.#at < end) items.push(this.#one(type, depth + 1));
    return items;
  }

  #number(): number {
    const bytes = this.#take(4);
    return this.#isLittle ? bytes.readUInt32LE() : bytes.readUInt32BE();
  }

  #text(length: number): string {
    const text = this.#take(length).toString('utf8');
    this.#take(1);
    return text;
  }

  #take(count: number): Buffer {
    const end = this.#at + count;
    if (end > this.#bytes.length) throw new DbusError('a message ends in the middle of a value');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}

function endOfType(signature: string, at: number, depth: number): number {
  const kind = signature[at];
  if (kind === undefined || depth > MAX_DEPTH || ALIGNMENT[kind] === undefined)
    throw new DbusError('a signature has a type that is not supported');
  if (kind === 'a') return endOfType(signature, at + 1, depth + 1);
  if (kind !== '(' && kind !== '{') return at + 1;
  let end = at + 1;
  while (signature[end] !== (kind === '(' ? ')' : '}')) end = endOfType(signature, end, depth + 1);
  // Reject an empty structure: a list of them could be read forever.
  if (end === at + 1) throw new DbusError('a signature has an empty structure');
  return end + 1;
}
