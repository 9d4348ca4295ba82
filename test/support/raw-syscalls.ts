/**
 * Writes static x64 programs that make system calls and nothing else: what an attacker has who runs machine code of his
 * own in a worker. No compiler needed, no libc in the way, and the kernel's answers come back unfiltered.
 */
export interface RawCall {
  readonly number: number;
  readonly arguments?: readonly (number | string)[];
  /** Enter the kernel by `int 0x80`, through the 32-bit table. */
  readonly through32Bit?: boolean;
  /** clone and fork return twice; the child, which finds 0, waits forever, so that it counts and does nothing else. */
  readonly makesChild?: boolean;
}

/** A program that makes these calls in order and writes their results, 8 bytes each, to the channel. */
export function rawProgram(calls: readonly RawCall[]): Uint8Array {
  const strings = new Map<string, number>();
  let dataAddress = DATA_ADDRESS + RESULT_AREA_BYTES;
  for (const text of calls.flatMap((call) => call.arguments ?? [])) {
    if (typeof text !== 'string' || strings.has(text)) continue;
    strings.set(text, dataAddress);
    dataAddress += Buffer.byteLength(text) + 1;
  }
  const code = calls.flatMap((call, index) => {
    const values = (call.arguments ?? []).map((value) =>
      typeof value === 'string' ? (strings.get(value) ?? 0) : value,
    );
    return [
      ...system(call.number, values, call.through32Bit),
      ...(call.makesChild === true ? parkChild() : []),
      0x48,
      0xa3,
      ...word64(DATA_ADDRESS + 8 * index),
    ];
  });
  code.push(...system(WRITE, [CHANNEL, DATA_ADDRESS, 8 * calls.length]), ...system(EXIT_GROUP, [0]));
  const data = Buffer.concat([
    Buffer.alloc(RESULT_AREA_BYTES),
    ...[...strings.keys()].map((text) => Buffer.from(`${text}\0`)),
  ]);
  return elf(Buffer.from(code), data);
}

/** Results of a `rawProgram` as numbers: negative ones are error numbers. */
export function rawResults(answer: Buffer): number[] {
  return Array.from({ length: Math.floor(answer.length / 8) }, (_, index) => Number(answer.readBigInt64LE(8 * index)));
}

const WRITE = 1;
const FUTEX = 202;
const EXIT_GROUP = 231;
const CHANNEL = 3;
const CODE_ADDRESS = 0x400000;
const DATA_ADDRESS = 0x800000;
const RESULT_AREA_BYTES = 4096;
/** Never written, so that a futex on it waits forever. */
const ZERO_ADDRESS = DATA_ADDRESS + RESULT_AREA_BYTES - 8;
const HEADER_BYTES = 64 + 2 * 56;

// rax, then rdi, rsi, rdx, r10, r8, r9: "move a 64-bit constant into".
const MOVE_NUMBER = [0x48, 0xb8];
// biome-ignore format: six of a kind
const MOVE_ARGUMENT = [[0x48, 0xbf], [0x48, 0xbe], [0x48, 0xba], [0x49, 0xba], [0x49, 0xb8], [0x49, 0xb9]];

function system(number: number, values: readonly number[], through32Bit = false): number[] {
  const moves = MOVE_ARGUMENT.flatMap((move, index) => [...move, ...word64(values[index] ?? 0)]);
  return [...moves, ...MOVE_NUMBER, ...word64(number), ...(through32Bit ? [0xcd, 0x80] : [0x0f, 0x05])];
}

function parkChild(): number[] {
  const park = system(FUTEX, [ZERO_ADDRESS, 128, 0, 0]);
  const loop = [...park, 0xeb, 256 - park.length - 2]; // and again from the start
  return [0x48, 0x85, 0xc0, 0x75, loop.length, ...loop];
}

function word64(value: number): number[] {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(value));
  return [...bytes];
}

function elf(code: Buffer, data: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(header);
  header.writeUInt16LE(2, 16); // executable
  header.writeUInt16LE(62, 18); // x86-64
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(BigInt(CODE_ADDRESS + HEADER_BYTES), 24);
  header.writeBigUInt64LE(64n, 32);
  header.writeUInt16LE(64, 52);
  header.writeUInt16LE(56, 54);
  header.writeUInt16LE(2, 56);
  const start = Buffer.concat([header, code]);
  const dataOffset = Math.ceil(start.length / 4096) * 4096;
  segment(header, 64, { flags: 5, offset: 0, address: CODE_ADDRESS, bytes: start.length });
  segment(header, 120, { flags: 6, offset: dataOffset, address: DATA_ADDRESS, bytes: data.length });
  return Buffer.concat([header, code, Buffer.alloc(dataOffset - start.length), data]);
}

function segment(
  header: Buffer,
  at: number,
  part: { flags: number; offset: number; address: number; bytes: number },
): void {
  header.writeUInt32LE(1, at);
  header.writeUInt32LE(part.flags, at + 4);
  header.writeBigUInt64LE(BigInt(part.offset), at + 8);
  header.writeBigUInt64LE(BigInt(part.address), at + 16);
  header.writeBigUInt64LE(BigInt(part.address), at + 24);
  header.writeBigUInt64LE(BigInt(part.bytes), at + 32);
  header.writeBigUInt64LE(BigInt(part.bytes), at + 40);
  header.writeBigUInt64LE(4096n, at + 48);
}
