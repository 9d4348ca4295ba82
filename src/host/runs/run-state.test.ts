import { describe, expect, test } from 'vitest';
import { type LiveEvent, type LiveState, nextState, TRANSITIONS } from './run-state.js';

const EVENTS: readonly LiveEvent[] = [
  ...(['callsMove', 'callsWait', 'callsHeld', 'suspendDue', 'refuseDue', 'drain'] as const),
  ...(['leftUndecided', 'suspendDone', 'suspendFailed', 'end'] as const),
];
const STATES = Object.keys(TRANSITIONS) as LiveState[];

/** What each event makes of each state. `.`: nothing changes, and nothing is done. */
const EXPECTED = `
               computing                 waiting                              held                    suspending                       suspended  ended
callsMove      .                         computing stopGrace spendTime        computing spendTime     .                                .          .
callsWait      waiting pauseTime ask startGrace  waiting ask startGrace       waiting ask startGrace  .                                .          .
callsHeld      held pauseTime ask        held stopGrace ask                   held ask                .                                .          .
suspendDue     .                         suspending stopGrace suspend         .                       .                                .          .
refuseDue      computing endPatience refuse  waiting stopGrace endPatience refuse  .                  .                                .          .
drain          computing endPatience     waiting stopGrace endPatience startGrace  held endPatience   .                                .          .
leftUndecided  .                         waiting shortenGrace                 .                       .                                .          .
suspendDone    .                         .                                    .                       suspended stopTimers             .          .
suspendFailed  .                         .                                    .                       computing stayInMemory spendTime .          .
end            ended stopTimers          ended stopTimers                     ended stopTimers        ended stopTimers                 .          .
`;

describe('the states of a run in memory', () => {
  const [head = '', ...lines] = EXPECTED.trim().split('\n');
  const columns = head.trim().split(/\s+/) as LiveState[];
  const cells = lines.flatMap((line) => {
    const [event = '', ...row] = line.trim().split(/\s{2,}| (?=\.)/);
    return row.map((cell, index) => ({ event: event as LiveEvent, state: columns[index] as LiveState, cell }));
  });

  test('the table names every state and every event', () => {
    expect(columns).toEqual(STATES);
    expect(cells.map(({ event, state }) => `${event} ${state}`)).toEqual(
      EVENTS.flatMap((event) => STATES.map((state) => `${event} ${state}`)),
    );
  });

  test.each(cells)('$event in $state: $cell', ({ event, state, cell }) => {
    const { to, effects } = nextState(state, event);
    expect(to === state && effects.length === 0 ? '.' : [to, ...effects].join(' ')).toBe(cell);
  });
});

describe('every sequence of six events', () => {
  const faults = new Set<string>();
  walk('computing', { isPaused: false, hasGrace: false }, [], (path, state, { isPaused, hasGrace }) => {
    const isWaiting = state === 'waiting' || state === 'held';
    if (isWaiting !== isPaused && state !== 'suspending' && !isOver(state)) faults.add(`time: ${path}`);
    if (hasGrace && state !== 'waiting') faults.add(`grace: ${path}`);
  });

  test('pauses time exactly while the run waits for people', () => {
    expect([...faults].filter((fault) => fault.startsWith('time'))).toEqual([]);
  });

  test('runs the grace period only while the run waits', () => {
    expect([...faults].filter((fault) => fault.startsWith('grace'))).toEqual([]);
  });
});

interface Timers {
  readonly isPaused: boolean;
  readonly hasGrace: boolean;
}

function walk(
  state: LiveState,
  timers: Timers,
  path: readonly LiveEvent[],
  visit: (path: string, state: LiveState, timers: Timers) => void,
): void {
  visit(path.join(' '), state, timers);
  if (path.length === 6) return;
  for (const event of EVENTS) {
    const { to, effects } = nextState(state, event);
    let { isPaused, hasGrace } = timers;
    for (const effect of effects) {
      if (effect === 'pauseTime') isPaused = true;
      if (effect === 'spendTime') isPaused = false;
      if (effect === 'startGrace') hasGrace = true;
      if (effect === 'stopGrace' || effect === 'stopTimers') hasGrace = false;
    }
    if (to !== state || effects.length > 0) walk(to, { isPaused, hasGrace }, [...path, event], visit);
  }
}

function isOver(state: LiveState): boolean {
  return state === 'suspended' || state === 'ended';
}
