// @ts-check
// The built program as a person starts it: nothing is running, nothing is warm but the file cache.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../../scripts/house.mjs';
import { mustBe } from '../product.mjs';
import { scaled, timeEach } from '../stats.mjs';

const PROGRAM = join(ROOT, 'dist', 'bin.js');

export async function measure({ quick }) {
  await run();
  const { p50, p95 } = await timeEach(scaled(20, quick), run);
  const bare = await timeEach(scaled(20, quick), () => output([process.execPath, ['-e', '0']], ''));
  return [
    {
      name: 'codemode run, from a cold process to its end',
      unit: 'ms',
      p50,
      p95,
      note: `an empty node process takes ${bare.p50.toFixed(0)} ms here`,
    },
  ];
}

async function run() {
  const text = await output([process.execPath, [PROGRAM, 'run', '-']], 'globalThis.__codemode_result__ = 40 + 2;');
  mustBe(JSON.parse(text).result, 42);
}

function output([file, args], input) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    child.on('error', reject);
    child.on('close', (status) => (status === 0 ? resolve(text) : reject(new Error(`${file} ended with ${status}`))));
    child.stdin.end(input);
  });
}
