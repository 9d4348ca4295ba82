import type { Engine } from './engine.js';
import type { Image } from './image.js';
import type { QuickJsRunState } from './run-state.js';

const WASM_PAGE_BYTES = 65_536;

/** Records the program's current usage, without that of the image. */
export function notePeakMemory(engine: Engine, { usedBytes, usedBytesAt }: Image, state: QuickJsRunState): void {
  const used = new DataView(engine.exports.memory.buffer).getUint32(usedBytesAt, true) - usedBytes;
  if (used > state.peakMemoryBytes) state.peakMemoryBytes = used;
}

/** Records memory that was allocated and freed between two checks: the instance's memory has grown by it. */
export function noteGrownMemory(engine: Engine, { pages }: Image, state: QuickJsRunState): void {
  const grownBytes = (engine.pages - pages) * WASM_PAGE_BYTES;
  if (grownBytes > state.peakMemoryBytes) state.peakMemoryBytes = grownBytes;
}
