import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { Engine } from './engine.js';
import type { ExecutionOptions, ExecutionState, QuickJsExecution } from './execution.js';
import type { Image } from './image.js';
import { restoreImage } from './image.js';

/**
 * A waiting program as bytes: the pages of its memory that differ from the image, and what lies outside the memory.
 * While it waits nothing of it is on a stack, so that is all there is. The host seals the bytes before it stores them.
 */
const PAGE_BYTES = 4_096;
/** More quality halves nothing and costs milliseconds: a small script is 30 to 40 KB at 3, and 1 ms. */
const BROTLI_QUALITY = 3;
const MAX_MEMORY_BYTES = 2 ** 32 - 1;

interface SuspendedHead {
  readonly options: ExecutionOptions;
  readonly state: Omit<ExecutionState, 'randomState'> & { readonly randomState: string };
  readonly mapJson: string;
  readonly memoryPages: number;
  readonly dirtyPages: readonly number[];
}

export function suspend(execution: QuickJsExecution, image: Image): Buffer {
  const { memory } = execution.engine;
  const original = plainMemory(image, memory.length);
  const dirtyPages: number[] = [];
  const parts: Buffer[] = [];
  // Below the stack pointer lies the stack, and while a program waits there is nothing on it but what earlier calls left.
  const firstPage = Math.floor(image.stackPointer / PAGE_BYTES);
  for (let offset = firstPage * PAGE_BYTES; offset < memory.length; offset += PAGE_BYTES) {
    const page = Buffer.from(memory.buffer, memory.byteOffset + offset, PAGE_BYTES);
    if (page.equals(original.subarray(offset, offset + PAGE_BYTES))) continue;
    dirtyPages.push(offset / PAGE_BYTES);
    parts.push(page);
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

/** Fills an instance with a suspended program's memory and gives the rest of its state back. */
export function unpack(bytes: Buffer): { head: SuspendedHead; pages: Buffer } {
  const plain = brotliDecompressSync(bytes, { maxOutputLength: MAX_MEMORY_BYTES });
  const headBytes = plain.readUInt32LE(0);
  return {
    head: JSON.parse(plain.toString('utf8', 4, 4 + headBytes)) as SuspendedHead,
    pages: plain.subarray(4 + headBytes),
  };
}

export function restorePages(engine: Engine, image: Image, head: SuspendedHead, pages: Buffer): void {
  engine.growTo(head.memoryPages);
  restoreImage(engine, image);
  const memory = engine.memory;
  head.dirtyPages.forEach((page, index) => {
    memory.set(pages.subarray(index * PAGE_BYTES, (index + 1) * PAGE_BYTES), page * PAGE_BYTES);
  });
}

function plainMemory(image: Image, length: number): Buffer {
  const memory = Buffer.alloc(length);
  for (const { offset, bytes } of image.segments) memory.set(bytes, offset);
  return memory;
}
