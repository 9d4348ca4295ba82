// @ts-check
// `npm run soak`: mixed work of many callers against one `codemode serve`, with servers that misbehave, for as long as wanted.
// Says at intervals what the host holds, and fails when something grows or an answer is wrong.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { CACHE } from '../scripts/repository.mjs';
import { describeMachine } from './machine.mjs';
import { BOUNDS, round } from './soak/figures.mjs';
import { soakOneHost } from './soak/session.mjs';

const HELP = `Usage: npm run soak -- [options]

  --runs N        requests to make, 20000 if not said
  --minutes M     stops after so many minutes, whatever was made by then
  --callers N     how many tokens there are, 50 if not said
  --every S       seconds between two looks, 60 if not said
  --max-pause MS  the longest time the host's loop may stand still, 2000 if not said; more where others use the machine
  --report FILE   where each look is added as a line of JSON
  --resume        goes on, with a new host, from the runs that the report has
  --help          this text

Work: programs in QuickJS mostly, some on Node and Python; over REST, WebSocket and MCP; tools that answer, are slow, large, fail,
crash, flood or print garbage; questions to a person that are approved, denied, cancelled and left; clients that leave.
Fails when, after a warm-up, one of these is higher by more than: ${Object.entries(BOUNDS)
  .map(([name, bound]) => `${name} ${bound}`)
  .join(', ')};
when a result is wrong, when a process or a temporary file is left behind, or when the event loop is blocked for too long.
Ctrl-C stops it after the work in flight; --resume continues from there.`;

const COLUMNS = [
  ...['runs', 'seconds', 'perSecond', 'heapMb', 'residentMb', 'treeMb', 'descriptors', 'processes'],
  ...['temporaryFiles', 'stateFiles', 'stateMb', 'pauseMs', 'idlePauseMs', 'busy', 'unexpected'],
];

const options = read(process.argv.slice(2));
if (options.help) console.log(HELP);
else if (options.problem !== undefined) {
  console.error(`${options.problem}\n\n${HELP}`);
  process.exitCode = 2;
} else process.exitCode = (await main(options)) ? 0 : 1;

/** @returns {Promise<boolean>} whether all is well */
async function main({ runs, minutes, callers, every, maxPause, report, resume }) {
  mkdirSync(dirname(report), { recursive: true });
  const before = resume ? earlier(report) : { runs: 0, failures: [] };
  if (runs <= before.runs) {
    console.log(`the report has ${before.runs} runs already: ${report}`);
    return before.failures.length === 0;
  }
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());
  const session = new Date().toISOString();
  console.log(`${describeMachine().text}\n${runs - before.runs} requests of ${callers} callers; each look: ${report}`);
  console.log(COLUMNS.map((name) => name.padStart(width(name))).join(' '));
  let longestPauseMs = 0;
  const {
    runs: done,
    failures,
    problems,
  } = await soakOneHost({
    ...{ runs: runs - before.runs, callers, everySeconds: every, maxPauseMs: maxPause, serial: before.runs },
    untilMs: minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000,
    stop: stop.signal,
    onLook: (seen) => {
      longestPauseMs = Math.max(longestPauseMs, seen.pauseMs);
      appendFileSync(report, `${JSON.stringify({ session, at: new Date().toISOString(), ...seen })}\n`);
      const figures = { ...seen, perSecond: seen.runs / seen.seconds };
      console.log(COLUMNS.map((name) => String(round(figures[name] ?? 0)).padStart(width(name))).join(' '));
      for (const each of seen.wrong) console.log(`WRONG: ${each}`);
    },
  });
  appendFileSync(report, `${JSON.stringify({ session, ended: true, runs: done, failures, problems })}\n`);
  console.log(
    `${done} requests (${before.runs + done} with earlier ones); longest pause of the loop ${round(longestPauseMs)} ms`,
  );
  for (const each of problems.slice(0, 10)) console.log(`  ${each}`);
  const all = [...before.failures, ...failures];
  for (const each of all) console.log(`FAILED: ${each}`);
  if (all.length === 0) console.log('nothing has grown, and every answer was right');
  return all.length === 0;
}

/** What earlier sessions of this report have done. A line that was cut by a crash is skipped. @param {string} report */
function earlier(report) {
  const sessions = new Map();
  const failures = [];
  for (const line of existsSync(report) ? readFileSync(report, 'utf8').split('\n') : []) {
    try {
      const { session, runs, failures: found = [] } = JSON.parse(line);
      sessions.set(session, Math.max(sessions.get(session) ?? 0, runs));
      failures.push(...found);
    } catch {
      // Cut, or the end of the file.
    }
  }
  return { runs: [...sessions.values()].reduce((sum, each) => sum + each, 0), failures };
}

/** @param {string} name */
function width(name) {
  return Math.max(name.length, 8);
}

/** @param {string[]} args @returns {any} */
function read(args) {
  try {
    const text = { type: /** @type {const} */ ('string') };
    const flag = { type: /** @type {const} */ ('boolean'), default: false };
    const { values } = parseArgs({
      args,
      options: {
        ...{ runs: text, minutes: text, callers: text, every: text, 'max-pause': text, report: text },
        ...{ resume: flag, help: flag },
      },
    });
    const number = (name, otherwise) => {
      const given = values[name];
      if (given === undefined) return otherwise;
      const value = Number(given);
      if (!(value > 0)) throw new Error(`--${name} takes a number above 0`);
      return value;
    };
    return {
      runs: Math.ceil(number('runs', 20_000)),
      minutes: number('minutes', undefined),
      callers: Math.ceil(number('callers', 50)),
      every: number('every', 60),
      maxPause: number('max-pause', 2_000),
      report: values.report ?? join(CACHE, 'soak', 'report.jsonl'),
      resume: values.resume,
      help: values.help,
    };
  } catch (error) {
    return { problem: error.message };
  }
}
