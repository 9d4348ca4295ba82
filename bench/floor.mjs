// @ts-check
// The least that a blocking call can cost here: a process writes some bytes and waits for some, another answers from its
// event loop. No jail, no engine, no JSON, no broker. What a figure is worth on a noisy machine shows beside this one.
import { spawn } from 'node:child_process';
import { summarize } from './stats.mjs';

/** As long as the frames of a small call and its answer. */
const FRAME_BYTES = 128;

const ASKER = `
const { readSync, writeSync } = require('node:fs');
const frame = Buffer.alloc(${FRAME_BYTES}, 1), answer = Buffer.alloc(${FRAME_BYTES});
const [calls, rounds] = process.argv.slice(1).map(Number);
const samples = [];
for (let round = -2; round < rounds; round++) {
  const start = performance.now();
  for (let call = 0; call < calls; call++) {
    writeSync(3, frame);
    for (let got = 0; got < answer.length; ) got += readSync(4, answer, 0, answer.length - got);
  }
  if (round >= 0) samples.push((performance.now() - start) * 1000 / calls);
}
console.log(JSON.stringify(samples));`;

/** @param {number} calls of one sample @param {number} rounds */
export async function floorOfBlockingCalls(calls, rounds) {
  const child = spawn(process.execPath, ['-e', ASKER, String(calls), String(rounds)], {
    stdio: ['ignore', 'pipe', 'inherit', 'pipe', 'pipe'],
  });
  const [, , , asked, answers] = /** @type {any[]} */ (child.stdio);
  const answer = Buffer.alloc(FRAME_BYTES, 2);
  asked.on('data', () => answers.write(answer));
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`the floor could not be measured: the process ended with ${code}`);
  return summarize(JSON.parse(output));
}
