// @ts-check
// Runs a second and how long each takes, for one caller and for many. Programs of different callers never share a process.
import { scaled, timeConcurrent, timeEach } from '../stats.mjs';
import { SIMPLE, startServe, WITH_CALL } from './serve.mjs';

const WIDTH = 8;
const CALLERS = 20;

export async function measure({ quick }) {
  return [...(await oneCaller(quick)), ...(await manyCallers(quick)), ...(await moreCallersThanWorkers(quick))];
}

async function oneCaller(quick) {
  const serve = await startServe();
  try {
    const [token] = /** @type {[string]} */ (serve.tokens);
    const lanes = async (open) => {
      const opened = await Promise.all(Array.from({ length: WIDTH }, open));
      return (lane = 0) => opened[lane]?.ask();
    };
    const simple = await lanes(() => serve.openLane(token, SIMPLE));
    const withCall = await lanes(() => serve.openLane(token, WITH_CALL));
    const floor = await lanes(() => serve.openEmptyLane(token));
    for (const each of [withCall, simple, floor]) await timeConcurrent(scaled(2_000, quick), WIDTH, each);
    const count = scaled(2_000, quick);
    const empty = await timeEach(count, floor);
    const alone = await timeEach(count, simple);
    const called = await timeEach(count, withCall);
    const emptyRate = await timeConcurrent(count * 4, WIDTH, floor);
    const before = serve.measure();
    const rate = await timeConcurrent(count * 4, WIDTH, simple);
    const after = serve.measure();
    const each = (later, earlier) => (later - earlier) / (count * 4);
    return [
      { name: 'empty route of the same server', unit: 'ms', ...figures(empty), note: p99(empty) },
      {
        name: 'simple run over HTTP, one after the other',
        unit: 'ms',
        ...figures(alone),
        goal: { p50: 5, p95: 10 },
        note: `${p99(alone)}; ${(alone.p50 / empty.p50).toFixed(1)} times the empty route`,
      },
      {
        name: 'run with one tool call over HTTP',
        unit: 'ms',
        ...figures(called),
        goal: { p50: 5, p95: 20 },
        note: `${p99(called)}; the call adds ${(called.p50 - alone.p50).toFixed(2)} ms`,
      },
      {
        name: `simple runs over HTTP, one caller, ${WIDTH} under way`,
        ...{ unit: 'ms', valueUnit: 'runs/s', ...figures(rate), value: rate.perSecond },
        goal: { p95: 10, atLeast: 1_000 },
        note: `${p99(rate)}; ${each(after.hostProcessorMs, before.hostProcessorMs).toFixed(3)} ms of CPU time in the host; empty route ${Math.round(emptyRate.perSecond)}/s`,
      },
    ];
  } finally {
    await serve.close();
  }
}

async function manyCallers(quick) {
  const workers = { min: 2, max: CALLERS + 2 };
  const fresh = await withCallers(workers, quick);
  const again = await withCallers(workers, quick, { isRepeated: true });
  const row = (name, { rate, processes, shares }) => ({
    name,
    ...{ unit: 'ms', valueUnit: 'runs/s', ...figures(rate), value: rate.perSecond },
    goal: { atLeast: 1_000 },
    note: `${processes} processes; ${p99(rate)}; ${shares}`,
  });
  return [
    row(`simple runs over HTTP, ${CALLERS} callers, a worker each`, fresh),
    row('the same program again and again', again),
  ];
}

async function moreCallersThanWorkers(quick) {
  const { rate, shares } = await withCallers({ min: 2, max: 4 }, quick);
  return [
    {
      name: `simple runs over HTTP, ${CALLERS} callers, 4 workers`,
      ...{ unit: 'ms', valueUnit: 'runs/s', ...figures(rate), value: rate.perSecond },
      note: `${p99(rate)}, slowest ${Math.round(rate.slowest)} ms; ${shares}`,
    },
  ];
}

/**
 * For some seconds each caller asks again as soon as it is answered. As with one caller, programs have run before: a worker
 * needs some hundred until its code is compiled, and with twenty callers there are twenty workers.
 */
async function withCallers(workers, quick, lane = {}) {
  const serve = await startServe({ callers: CALLERS, workers });
  try {
    const lanes = await Promise.all(serve.tokens.map((token) => serve.openLane(token, SIMPLE, lane)));
    const before = scaled(600, quick);
    await Promise.all(
      lanes.map(async (lane) => {
        for (let index = 0; index < before; index++) await lane.ask();
      }),
    );
    const done = lanes.map(() => 0);
    const samples = [];
    const start = performance.now();
    const end = start + scaled(10_000, quick);
    await Promise.all(
      lanes.map(async (lane, caller) => {
        for (let begun = start; begun < end; ) {
          await lane.ask();
          const now = performance.now();
          samples.push(now - begun);
          begun = now;
          done[caller] = (done[caller] ?? 0) + 1;
        }
      }),
    );
    const perSecond = (samples.length * 1_000) / (performance.now() - start);
    const shares = `${Math.min(...done)} to ${Math.max(...done)} runs for each caller`;
    return { rate: summary(samples, perSecond), shares, processes: serve.measure().processes };
  } finally {
    await serve.close();
  }
}

function summary(samples, perSecond) {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share) => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), slowest: at(1), perSecond };
}

const figures = ({ p50, p95 }) => ({ p50, p95 });
const p99 = (figure) => `p99 ${figure.p99.toFixed(2)} ms`;
