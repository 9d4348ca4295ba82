import { buildImage, encodeImage } from '../src/worker/quickjs/image.js';
import { trapOnOutOfMemory } from '../src/worker/quickjs/wasm.js';

/** Runs at build time: the engine with its one patch, and the image every execution starts from. */
export function makeEngineAndImage(engine: Uint8Array, bootScript: string): { binary: Uint8Array; image: Buffer } {
  const { binary, functionIndex } = trapOnOutOfMemory(engine);
  const module = new WebAssembly.Module(new Uint8Array(binary));
  return { binary, image: encodeImage(buildImage(module, bootScript, functionIndex)) };
}
