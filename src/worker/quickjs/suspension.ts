import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { Engine } from './engine.js';
import type { Image } from './image.js';
import type { QuickJsRun } from './quickjs-run.js';
import type { QuickJsRunOptions, QuickJsRunState } from './run-state.js';

/**
 * A waiting program as bytes: how the pages of its memory differ from the image, and its state outside the memory. While it waits
 * nothing of it is on a stack, so that is complete. The host seals the bytes before it stores them.
 */
const PAGE_BYTES = 4_096;
/** At quality 1 a small script takes 6 KB and 0.3 ms. Quality 9 saves a tenth of that and costs thirty times as much. */
const BROTLI_QUALITY = 1;
const MAX_MEMORY_BYTES = 2 ** 32 - 1;

interface SuspendedHead {
  readonly options: QuickJsRunOptions;
  readonly state: Omit<QuickJsRunState, 'randomState'> & { readonly randomState: string };
  readonly mapJson: string;
  readonly memoryPages: number;
  readonly dirtyPages: readonly number[];
}

export function suspend(execution: QuickJsRun, image: Image): Buffer {
  const { memory } = execution.engine;
  const original = plainMemory(image, memory.length);
  const dirtyPages: number[] = [];
  const parts: Buffer[] = [];
  // The stack is below the stack pointer, and while a program waits it holds only leftovers of earlier calls.
  const firstPage = Math.floor(image.stackPointer / PAGE_BYTES);
  for (let offset = firstPage * PAGE_BYTES; offset < memory.length; offset += PAGE_BYTES) {
    const page = Buffer.from(memory.buffer, memory.byteOffset + offset, PAGE_BYTES);
    if (page.equals(original.subarray(offset, offset + PAGE_BYTES))) continue;
    dirtyPages.push(offset / PAGE_BYTES);
    parts.push(difference(page, original.subarray(offset, offset + PAGE_BYTES)));
  }
  const head: SuspendedHead = {
    options: execution.options,
    state: { ...execution.state, randomState: execution.randomState.toString() },
    mapJson: execution.positions.json,
    memoryPages: execution.engine.pages,
    dirtyPages,
  };
  const headBytes = Buffer.from(JSON.stringify(head));
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32LE(headBytes.length);
  return brotliCompressSync(Buffer.concat([prefix, headBytes, ...parts]), {
    params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
  });
}

/** Decodes a suspended program into the pages of its memory and the rest of its state. */
export function unpack(bytes: Buffer): { head: SuspendedHead; pages: Buffer } {
  const plain = brotliDecompressSync(bytes, { maxOutputLength: MAX_MEMORY_BYTES });
  const headBytes = plain.readUInt32LE(0);
  return {
    head: JSON.parse(plain.toString('utf8', 4, 4 + headBytes)) as SuspendedHead,
    pages: plain.subarray(4 + headBytes),
  };
}

/** Applies the differences to an engine that holds the image. */
export function restorePages(engine: Engine, head: SuspendedHead, pages: Buffer): void {
  engine.growTo(head.memoryPages);
  const memory = engine.memory;
  head.dirtyPages.forEach((page, index) => {
    const at = page * PAGE_BYTES;
    const original = Buffer.from(memory.subarray(at, at + PAGE_BYTES));
    memory.set(difference(pages.subarray(index * PAGE_BYTES, (index + 1) * PAGE_BYTES), original), at);
  });
}

/** Exclusive or, in both directions: a page differs from the image in a few dozen bytes, and the rest becomes zeroes. */
function difference(page: Buffer, original: Buffer): Buffer {
  const result = Buffer.allocUnsafe(PAGE_BYTES);
  for (let index = 0; index < PAGE_BYTES; index++)
    result[index] = (page[index] as number) ^ (original[index] as number);
  return result;
}

function plainMemory(image: Image, length: number): Buffer {
  const memory = Buffer.alloc(length);
  for (const { offset, bytes } of image.segments) memory.set(bytes, offset);
  return memory;
}
