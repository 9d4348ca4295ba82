import type { Jail } from '../../src/sandbox/jail/jail.js';
import { loadRuntimeFiles } from '../../src/sandbox/runtime-files.js';
import type { WorkerRole } from '../../src/wire/messages.js';
import { openFolder } from './jailed.js';
import { openSandbox, type TestSandbox, testJail, WORKER_FOLDER } from './sandbox.js';

/** A sandbox in which some worker processes are in the hands of an attacker: Node code of the test in place of ours. */
export interface TakenOver extends TestSandbox {
  /** How many processes the attacker has had so far. */
  readonly taken: () => number;
}

export interface TakeOverOptions {
  readonly role?: WorkerRole;
  /** Processes of that role, first ones first, that the attacker gets; those after them are ours. */
  readonly count?: number;
  /** Instead of `count`: every second process, from the first one on. Its number is in `process.argv[2]`. */
  readonly everySecond?: boolean;
  readonly pool?: Parameters<typeof openSandbox>[0];
}

export async function openTakenOver(script: string, options: TakeOverOptions = {}): Promise<TakenOver> {
  const { role = 'quickjs', count = 1, pool } = options;
  const folder = openFolder();
  const { build } = loadRuntimeFiles(WORKER_FOLDER);
  const from = folder.write('hostile.cjs', `const BUILD = '${build}', ROLE = '${role}';\n${PRELUDE}\n${script}`);
  const jail = await testJail();
  let taken = 0;
  let started = 0;
  const hostile: Jail = {
    ...jail,
    spawn: (program) => {
      if (program.runtime !== role) return jail.spawn(program);
      const isTaken = options.everySecond === true ? started % 2 === 0 : started < count;
      started++;
      if (!isTaken) return jail.spawn(program);
      const interpreterArguments = ['--v8-pool-size=1', '--no-warnings', '/codemode/hostile.cjs', String(taken++)];
      // The same view of the machine and the same filter as a worker of ours, with one more file.
      const files = [...program.files, { from, to: '/codemode/hostile.cjs' }];
      return jail.spawn({ ...program, files, interpreterArguments });
    },
  };
  const box = await openSandbox({ max: 1, ...pool }, undefined, hostile);
  return {
    ...box,
    taken: () => taken,
    [Symbol.asyncDispose]: async () => {
      await box[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** What every attacker needs: to say hello as a worker would, and to read and write frames of any shape. */
const PRELUDE = `
const fs = require('node:fs');
const write = (bytes) => { for (let at = 0; at < bytes.length; ) at += fs.writeSync(3, bytes, at); };
const word = (value) => { const bytes = Buffer.alloc(4); bytes.writeUInt32LE(value >>> 0); return bytes; };
const frame = (head, body = '') => {
  const headBytes = Buffer.from(typeof head === 'string' ? head : JSON.stringify(head)), bodyBytes = Buffer.from(body);
  return Buffer.concat([word(4 + headBytes.length + bodyBytes.length), word(headBytes.length), headBytes, bodyBytes]);
};
const send = (head, body) => write(frame(head, body));
let held = Buffer.alloc(0);
const take = (count) => {
  while (held.length < count) {
    const chunk = Buffer.alloc(65536);
    const read = fs.readSync(0, chunk, 0, chunk.length, null);
    if (read === 0) process.exit(0);
    held = Buffer.concat([held, chunk.subarray(0, read)]);
  }
  const taken = held.subarray(0, count);
  held = held.subarray(count);
  return taken;
};
const receive = () => {
  const length = take(4).readUInt32LE(0), whole = take(length), head = whole.readUInt32LE(0);
  return { ...JSON.parse(whole.toString('utf8', 4, 4 + head)), body: whole.subarray(4 + head) };
};
const hello = (changes) => send({ type: 'worker/ready', protocol: 5, build: BUILD, role: ROLE, ...changes });
/** The next message of a kind. */
const wait = (type) => { for (;;) { const message = receive(); if (message.type === type) return message; } };
const end = (execution, result, more) => send({ type: 'execution/end', execution, failure: null, logsCut: false, usage: { cpuMs: 0, memoryBytes: 0 }, ...more }, result);
const call = (execution, number, target, input = '[]') => send({ type: 'call/request', execution, call: number, target }, input);
const silence = () => { for (;;) receive(); };
`;
