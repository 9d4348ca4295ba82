// @ts-check
// One host from its start to its end, with its work and the looks at it.

import { createHash, randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE, ROOT } from '../../scripts/repository.mjs';
import { startServe } from '../load/serve.mjs';
import { processTree } from '../machine.mjs';
import { EVERYDAY } from '../program.mjs';
import { openSoakClient } from './client.mjs';
import { filesIn, Growth, look, openIdleThread, ownPauseMs } from './figures.mjs';
import { Lanes } from './lanes.mjs';

/** Requests in progress at a time. More only make each wait longer. */
const WIDTH = 12;
const WORKERS = { min: 2, max: 8 };
/** So many wrong answers are enough to know. */
const MAX_UNEXPECTED = 1_000;

const stdio = (file, ...args) => ({ command: process.execPath, args: [join(ROOT, file), ...args] });
const UNRULY = 'bench/soak/unruly-server.mjs';
const FLOODING = 'test/fixtures/flooding-server.mjs';
const CONFIG = {
  // It has the routes of `unified` too.
  profile: 'runner',
  mcpServers: {
    everyday: EVERYDAY,
    unruly: stdio(UNRULY),
    dying: stdio(UNRULY),
    silent: { ...stdio(UNRULY), timeout: '300ms' },
    flooding: stdio(FLOODING, 'chatter'),
    pinging: stdio(FLOODING, 'pings'),
    changing: stdio(FLOODING, 'changes'),
  },
  policy: [{ tools: 'everyday/count', decision: 'ask' }],
  approvals: { grace: '20ms', expireAfter: '60s' },
  // Reached soon: from then on what is kept is as much as it will ever be.
  quotas: { history: 50, sessions: 8 },
};

/**
 * @param {{ runs: number, callers: number, everySeconds: number, untilMs: number, maxPauseMs: number, serial: number,
 *   stop: AbortSignal, onLook(look: Record<string, any>): void }} options
 * @returns {Promise<{ runs: number, failures: string[], problems: string[] }>}
 */
export async function soakOneHost({ runs, callers, everySeconds, untilMs, maxPauseMs, serial, stop, onLook }) {
  const copy = copyProgram();
  const person = randomBytes(16).toString('hex');
  const people = [{ name: 'person', sha256: sha256(person), scopes: ['approve'] }];
  const serve = await startServe({ callers, people, workers: WORKERS, config: CONFIG, program: copy.program });
  const client = openSoakClient(serve.url, WIDTH);
  const idle = openIdleThread();
  const lanes = new Lanes({ client, tokens: serve.tokens, person, runs, serial });
  const growth = new Growth(runs);
  let longestMs = 0;
  /** @type {string[]} */
  const failures = [];
  const begun = performance.now();
  let isGone = false;
  let isClosing = false;
  const gone = serve.exited.then(([status, signal]) => {
    if (isClosing) return;
    isGone = true;
    failures.push(`the host ended by itself, with ${signal ?? `status ${status}`}`);
    lanes.end();
  });
  const observe = async (options = {}) => {
    const looking = lanes.quietly(() => look(serve, client, idle));
    const seen = await Promise.race([looking.catch((error) => error), gone]);
    if (seen === undefined) return;
    if (seen instanceof Error) return void failures.push(`the host could not be looked at: ${seen.message}`);
    const { runs: done, busy, unexpected, kinds } = lanes.account;
    // While it starts, everything is loaded and compiled: that is no pause of a host at work.
    if (growth.isWarm) longestMs = Math.max(longestMs, ownPauseMs(seen));
    const wrong = growth.add(seen, done, options);
    failures.push(...wrong);
    onLook({ runs: done, seconds: (performance.now() - begun) / 1_000, busy, unexpected, ...seen, kinds, wrong });
  };
  const working = lanes.work(WIDTH);
  const isDone = working.then(() => true);
  try {
    for (;;) {
      const leftMs = Math.min(everySeconds * 1_000, untilMs - Date.now());
      if (leftMs <= 0 || stop.aborted || isGone || lanes.account.unexpected > MAX_UNEXPECTED) lanes.end();
      if (await Promise.race([isDone, pause(leftMs, stop)])) break;
      if (isGone) break;
      if (!stop.aborted) await observe();
      // What has grown will not shrink: the rest of the time would tell nothing more.
      if (failures.length > 0) lanes.end();
    }
    if (!isGone) await observe({ isLast: true });
  } finally {
    isClosing = true;
    client.close();
    idle.close();
    await serve.close(isGone ? undefined : leftBehind(serve, failures));
    copy.remove();
  }
  const { runs: done, unexpected, problems } = lanes.account;
  if (longestMs > maxPauseMs) failures.push(`the loop stood still for ${Math.round(longestMs)} ms`);
  if (unexpected > 0) failures.push(`${unexpected} of ${done} answers were not as they should be`);
  return { runs: done, failures: [...new Set(failures)], problems };
}

/** Other work may build meanwhile: the host, and each worker that it starts, must be of one build. */
function copyProgram() {
  const folder = join(CACHE, 'soak', String(process.pid));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  return {
    program: join(folder, 'dist', 'bin.js'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Called when the host has ended: what it left. */
function leftBehind(serve, failures) {
  const before = processTree(serve.pid).map((pid) => ({ pid, startedAt: startOf(pid) }));
  return () => {
    const alive = before.filter(({ pid, startedAt }) => startedAt !== undefined && startOf(pid) === startedAt);
    if (alive.length > 0) failures.push(`processes outlived their host: ${alive.map(({ pid }) => pid).join(', ')}`);
    const { count } = existsSync(serve.temporaryFolder) ? filesIn(serve.temporaryFolder) : { count: 0 };
    if (count > 0) failures.push(`${count} temporary files were left behind`);
  };
}

function startOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

/** @returns {Promise<false>} */
function pause(ms, signal) {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve(false);
    };
    const timer = setTimeout(end, Math.max(ms, 200));
    if (!signal.aborted) signal.addEventListener('abort', end);
  });
}

function sha256(text) {
  return createHash('sha256').update(text).digest('hex');
}
