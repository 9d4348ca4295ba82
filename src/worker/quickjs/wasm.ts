/**
 * Three changes to the engine's binary, two made at build time and one per memory size. All are edits at positions that the
 * WebAssembly format defines, on a binary whose hash is pinned.
 */
const SECTION = { import: 2, memory: 5, export: 7, code: 10 } as const;
const UNREACHABLE = 0x00;
const NOP = 0x01;
const END = 0x0b;

/**
 * Running out of memory becomes a trap. In the engine it is an ordinary exception, which a program could catch and survive; a
 * limit must not be survivable. The body of the one function that raises it is replaced by `unreachable`, padded to its old length
 * so that nothing else moves. Returns the function's index, by which the trap is recognised.
 */
export function trapOnOutOfMemory(binary: Uint8Array): { binary: Uint8Array; functionIndex: number } {
  const patched = new Uint8Array(binary);
  const functionIndex = exportedFunction(patched, 'JS_ThrowOutOfMemory');
  const code = section(patched, SECTION.code);
  const reader = new Reader(patched, code.start);
  const bodies = reader.number();
  const wanted = functionIndex - importedFunctions(patched);
  for (let index = 0; index < bodies; index++) {
    const length = reader.number();
    if (index === wanted) {
      patched.fill(NOP, reader.offset, reader.offset + length);
      patched[reader.offset] = 0; // no local variables
      patched[reader.offset + 1] = UNREACHABLE;
      patched[reader.offset + length - 1] = END;
      return { binary: patched, functionIndex };
    }
    reader.offset += length;
  }
  throw new Error('the engine has no function that raises "out of memory"');
}

/** Removes the exports that are not in the list. The functions stay where they are: only their names are removed. */
export function withExports(binary: Uint8Array, names: readonly string[]): Uint8Array {
  const found = section(binary, SECTION.export);
  const reader = new Reader(binary, found.start);
  const kept: Uint8Array[] = [];
  for (let left = reader.number(); left > 0; left--) {
    const start = reader.offset;
    const name = reader.text();
    reader.byte();
    reader.number();
    if (names.includes(name)) kept.push(binary.subarray(start, reader.offset));
  }
  if (kept.length !== names.length) throw new Error('the engine binary does not export all that is used of it');
  const body = Buffer.concat([Buffer.from(leb128(kept.length)), ...kept]);
  return Buffer.concat([
    binary.subarray(0, found.header),
    Buffer.from([SECTION.export, ...leb128(body.length)]),
    body,
    binary.subarray(found.end),
  ]);
}

/** Gives the memory a maximum: an instance can never grow past it, whatever happens inside. */
export function withMemoryMaximum(binary: Uint8Array, maximumPages: number): Uint8Array {
  const found = section(binary, SECTION.memory);
  const reader = new Reader(binary, found.start);
  if (reader.number() !== 1 || reader.number() !== 0)
    throw new Error('the engine declares its memory in another way than expected');
  const minimumPages = reader.number();
  const body = [1, 1, ...leb128(minimumPages), ...leb128(Math.max(minimumPages, maximumPages))];
  return Buffer.concat([
    binary.subarray(0, found.header),
    Buffer.from([SECTION.memory, body.length, ...body]),
    binary.subarray(found.end),
  ]);
}

class Reader {
  readonly #bytes: Uint8Array;
  offset: number;

  constructor(bytes: Uint8Array, offset: number) {
    this.#bytes = bytes;
    this.offset = offset;
  }

  byte(): number {
    const value = this.#bytes[this.offset++];
    if (value === undefined) throw new Error('the engine binary ends in the middle');
    return value;
  }

  number(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if ((byte & 0x80) === 0) return value >>> 0;
    }
  }

  text(): string {
    const length = this.number();
    const value = Buffer.from(this.#bytes.subarray(this.offset, this.offset + length)).toString('utf8');
    this.offset += length;
    return value;
  }

  limits(): void {
    const hasMaximum = this.number() & 1;
    this.number();
    if (hasMaximum) this.number();
  }
}

function section(binary: Uint8Array, wanted: number): { header: number; start: number; end: number } {
  const reader = new Reader(binary, 8);
  while (reader.offset < binary.length) {
    const header = reader.offset;
    const id = reader.byte();
    const length = reader.number();
    const start = reader.offset;
    if (id === wanted) return { header, start, end: start + length };
    reader.offset += length;
  }
  throw new Error(`the engine binary has no section ${wanted}`);
}

function importedFunctions(binary: Uint8Array): number {
  const reader = new Reader(binary, section(binary, SECTION.import).start);
  let functions = 0;
  for (let left = reader.number(); left > 0; left--) {
    reader.text();
    reader.text();
    const kind = reader.byte();
    if (kind === 0) {
      reader.number();
      functions++;
    } else if (kind === 1) {
      reader.byte();
      reader.limits();
    } else if (kind === 2) reader.limits();
    else reader.offset += 2;
  }
  return functions;
}

function exportedFunction(binary: Uint8Array, name: string): number {
  const reader = new Reader(binary, section(binary, SECTION.export).start);
  for (let left = reader.number(); left > 0; left--) {
    const found = reader.text();
    const kind = reader.byte();
    const index = reader.number();
    if (kind === 0 && found === name) return index;
  }
  throw new Error(`the engine binary exports no ${name}`);
}

function leb128(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest & 0x7f;
    rest >>>= 7;
    bytes.push(rest === 0 ? low : low | 0x80);
  } while (rest !== 0);
  return bytes;
}
