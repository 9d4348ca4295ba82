// A QuickJS of its own for each run, in this process: no jail, no transpiler, no process boundary to cross.
import { getQuickJS } from 'quickjs-emscripten';

/** @returns {Promise<import('./peer.mjs').Peer>} */
export async function open() {
  const quickjs = await getQuickJS();
  return {
    name: 'quickjs-emscripten, fresh context, not jailed',
    run: async (index) =>
      evaluate(quickjs, `(async () => { const r = await Promise.resolve(40 + ${index}); return r + 2; })()`),
    filter: async (json, source) => evaluate(quickjs, `(async () => { ${source} })()`, json),
    close: async () => {},
  };
}

/** `big` gives the program the text as values, the way this engine is meant to: parsed inside it. */
async function evaluate(quickjs, source, bigJson = 'null') {
  const context = quickjs.newContext();
  try {
    const echo = context.newFunction('echo', (input) => input.dup());
    const big = context.newFunction('bigJson', () => context.newString(bigJson));
    context.setProp(context.global, 'echo', echo);
    context.setProp(context.global, 'bigJson', big);
    const promise = context.unwrapResult(context.evalCode(source));
    const settled = context.resolvePromise(promise);
    context.runtime.executePendingJobs();
    const value = context.unwrapResult(await settled);
    const plain = context.dump(value);
    for (const handle of [echo, big, promise, value]) handle.dispose();
    return plain;
  } finally {
    context.dispose();
  }
}
