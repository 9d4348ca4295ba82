// @ts-check
// What most people would build: one Node process for each run, in the same jail as our workers.
import { fileURLToPath } from 'node:url';
import { loadProduct, openBestJail } from '../product.mjs';

const PROGRAM = fileURLToPath(new URL('jailed-node-program.mjs', import.meta.url));
const LIMITS = { dataBytes: 1024 ** 3, cpuSeconds: undefined, processes: 64, fileBytes: 0 };

/** @returns {Promise<import('./peer.mjs').Peer>} */
export async function open() {
  const { launch } = await loadProduct();
  const jail = await openBestJail();
  const start = (source) => {
    const described = jail.spawn({
      runtime: 'quickjs',
      interpreterPath: process.execPath,
      interpreterArguments: ['--no-warnings', '/program.mjs'],
      files: [{ from: PROGRAM, to: '/program.mjs' }],
      limits: LIMITS,
    });
    return finish(launch(described, 'ignore'), source);
  };
  return {
    name: `a Node process for each run, jailed (${jail.level})`,
    run: async (index) => JSON.parse(await start(`const r = await Promise.resolve(40 + ${index}); return r + 2;`)),
    close: async () => {},
  };
}

function finish({ child, channel }, source) {
  return new Promise((resolve, reject) => {
    let answer = '';
    channel.on('data', (chunk) => {
      answer += chunk;
    });
    channel.on('error', () => {});
    child.on('error', reject);
    child.on('close', (status) => (status === 0 ? resolve(answer) : reject(new Error(`node ended with ${status}`))));
    channel.write(source);
  });
}
