// The least that a program behind a jail can cost: its engine in a jailed process, the connections in this one, plain pipes and
// JSON lines between them. No policy, no limits, no record, no check of what the worker says, one caller, one run at a time. The
// worker is V8, which is compiled, and used again for every run. No code mode with these processes is faster; it is nothing to use.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { serveTools } from '../../test/fixtures/stdio-tools.mjs';
import { loadProduct, openBestJail } from '../product.mjs';

const fileBeside = (name) => fileURLToPath(new URL(name, import.meta.url));
/** As long as ours: docs/decisions/0025-busy-polling-after-a-reply.md. */
const POLL_MS = 0.1;

const worker = await startWorker();
const upstream = spawn(process.execPath, [fileBeside('tools-server.mjs')], { stdio: ['pipe', 'pipe', 'ignore'] });
/** The calls that wait for the upstream, and the run that waits for the worker. */
const calls = new Map();
let finish;
let nextId = 1;
let pollUntil = 0;

createInterface({ input: worker.channel }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.call === undefined) return finish(message.result);
  ask('tools/call', { name: message.name, arguments: message.input }, ({ structuredContent }) => {
    worker.child.stdin.write(`${JSON.stringify({ call: message.call, value: structuredContent })}\n`);
    poll();
  });
});
createInterface({ input: upstream.stdout }).on('line', (line) => {
  const { id, result } = JSON.parse(line);
  const answer = calls.get(id);
  calls.delete(id);
  answer(result);
});

const clientInfo = { name: 'floor', version: '0' };
await new Promise((resolve) =>
  ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }, resolve),
);

serveTools('floor', {
  list: () => [{ name: 'run', inputSchema: { type: 'object', properties: { code: { type: 'string' } } } }],
  call: async (_, { code }) => {
    worker.child.stdin.write(`${JSON.stringify({ code })}\n`);
    const result = await new Promise((resolve) => {
      finish = resolve;
    });
    return { content: [], structuredContent: { result } };
  },
});
process.stdin.on('end', () => worker.child.kill('SIGKILL'));

async function startWorker() {
  const { launch } = await loadProduct();
  const jail = await openBestJail();
  const described = jail.spawn({
    runtime: 'quickjs',
    interpreterPath: process.execPath,
    interpreterArguments: ['--no-warnings', '/worker.cjs'],
    files: [{ from: fileBeside('floor-worker.cjs'), to: '/worker.cjs' }],
    limits: { dataBytes: 1024 ** 3, cpuSeconds: undefined, processes: 64, fileBytes: 0 },
  });
  return launch(described, 'ignore', 'ignore', 'pipe');
}

function ask(method, params, answer) {
  const id = nextId++;
  calls.set(id, answer);
  upstream.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
}

/** Looks for the next message for a moment instead of sleeping. */
function poll() {
  const isPolling = performance.now() < pollUntil;
  pollUntil = performance.now() + POLL_MS;
  if (!isPolling) setImmediate(look);
}

function look() {
  if (performance.now() < pollUntil) setImmediate(look);
}
