import { USED_EXPORTS } from '../src/worker/quickjs/engine.js';
import { buildImage, encodeImage, intrinsicsOf } from '../src/worker/quickjs/image.js';
import { trapOnOutOfMemory, withExports } from '../src/worker/quickjs/wasm.js';

/** Runs at build time: the patched engine, and the image every run starts from. */
export function makeEngineAndImage(
  engine: Uint8Array,
  bootScript: string,
  listScript: string,
): { binary: Uint8Array; image: Buffer; intrinsics: string } {
  const { binary: trapping, functionIndex } = trapOnOutOfMemory(engine);
  const binary = withExports(trapping, USED_EXPORTS);
  const module = new WebAssembly.Module(new Uint8Array(binary));
  const image = encodeImage(buildImage(module, bootScript, functionIndex));
  return { binary, image, intrinsics: intrinsicsOf(module, bootScript, listScript) };
}
