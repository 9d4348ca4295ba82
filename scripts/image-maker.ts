import { buildImage, encodeImage, intrinsicsOf } from '../src/worker/quickjs/image.js';
import { trapOnOutOfMemory } from '../src/worker/quickjs/wasm.js';

/** Runs at build time: the engine with its one patch, and the image every execution starts from. */
export function makeEngineAndImage(
  engine: Uint8Array,
  bootScript: string,
  listScript: string,
): { binary: Uint8Array; image: Buffer; intrinsics: string } {
  const { binary, functionIndex } = trapOnOutOfMemory(engine);
  const module = new WebAssembly.Module(new Uint8Array(binary));
  const image = encodeImage(buildImage(module, bootScript, functionIndex));
  return { binary, image, intrinsics: intrinsicsOf(module, bootScript, listScript) };
}
