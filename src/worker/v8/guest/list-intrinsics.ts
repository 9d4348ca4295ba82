import { listIntrinsics } from './intrinsics.js';

/** Runs in QuickJS when the image is built: see `intrinsicsOf` in `quickjs/image.ts`. */
const listed = listIntrinsics();
(globalThis as Record<string, unknown>)['__intrinsics'] = JSON.stringify(listed);
