// The package `run`: QuickJS in WebAssembly in a worker thread of this process, a fresh context for each run.
import { run, setMaxWorkers } from 'run';

/** @returns {Promise<import('./peer.mjs').Peer>} */
export async function open() {
  // It refuses what is more than its cap instead of queueing.
  setMaxWorkers(32);
  const hostFunctions = { bench: { echo: (input) => input } };
  return {
    name: 'the package run, worker thread, not jailed',
    run: async (index) => {
      const source = `const r = await Promise.resolve(40 + ${index}); return r + 2;`;
      const result = await run({ source, hostFunctions });
      if (result.status !== 'completed') throw new Error(`run came to ${result.status}`);
      return result.value;
    },
    close: async () => {},
  };
}
