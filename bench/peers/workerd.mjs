// @ts-check
// workerd's worker loader (experimental): a fresh V8 isolate for each run, asked over HTTP on a loopback connection that
// is kept open. workerd itself is not jailed here.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const START_TIMEOUT_MS = 10_000;

/** Loads the body of the request as its own worker, and passes its answer on. */
const LOADER = `export default {
  async fetch(request, env) {
    const code = await request.text();
    const worker = env.LOADER.get(crypto.randomUUID(), () => ({
      compatibilityDate: '2026-01-01', mainModule: 'main.js', modules: { 'main.js': code }, env: {}, globalOutbound: null,
    }));
    return worker.getEntrypoint().fetch('http://run/');
  },
};`;

const settings = (port) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "loader.js", esModule = embed "loader.js")],
    compatibilityDate = "2026-01-01",
    bindings = [(name = "LOADER", workerLoader = (id = "bench"))],
  ))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);`;

/** @returns {Promise<import('./peer.mjs').Peer>} */
export async function open() {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-bench-'));
  const port = await freePort();
  writeFileSync(join(folder, 'loader.js'), LOADER);
  writeFileSync(join(folder, 'config.capnp'), settings(port));
  const child = spawn(binary(), ['serve', '--experimental', join(folder, 'config.capnp')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const agent = new Agent({ keepAlive: true });
  const close = async () => {
    child.kill('SIGKILL');
    agent.destroy();
    rmSync(folder, { recursive: true, force: true });
  };
  const run = async (index) => JSON.parse(await post(agent, port, programOf(index)));
  try {
    await untilReady(
      child,
      () => run(0),
      () => said,
    );
  } catch (error) {
    await close();
    throw error;
  }
  return { name: "workerd's worker loader, not jailed", run, close };
}

function programOf(index) {
  return `const r = await Promise.resolve(40 + ${index});
    export default { fetch: () => new Response(JSON.stringify(r + 2)) };`;
}

async function untilReady(child, attempt, said) {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (child.exitCode !== null || performance.now() > deadline) {
        throw new Error(said().trim().split('\n')[0] || error.message);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

function post(agent, port, body) {
  return new Promise((resolve, reject) => {
    const sent = request({ agent, port, host: '127.0.0.1', method: 'POST' }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () =>
        response.statusCode === 200 ? resolve(text) : reject(new Error(`status ${response.statusCode}: ${text}`)),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}

/** The package of this platform has the binary in it; the script that would link it is not run. */
function binary() {
  const name = `workerd-linux-${process.arch === 'x64' ? '64' : 'arm64'}`;
  return fileURLToPath(new URL(`node_modules/@cloudflare/${name}/bin/workerd`, import.meta.url));
}
