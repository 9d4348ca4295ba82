/**
 * The life of a run in memory, as a table: state x event -> next state and effects. QuickJS runs, scripts and processes share it.
 * Whether a run can be suspended decides which event comes when nobody has decided in time: `suspendDue` or `refuseDue`.
 */

export type LiveState =
  /** The program computes, or at least one of its calls is in flight. Its timeout runs. */
  | 'computing'
  /** Every open call needs a person's decision. The grace period runs. */
  | 'waiting'
  /** As `waiting`, but a call is tied to this process: an upstream asks a person. There is no grace period. */
  | 'held'
  /** The program is being written to the store. */
  | 'suspending'
  | 'suspended'
  | 'ended';

export type LiveEvent =
  /** No call is open, or one of them needs no person. */
  | 'callsMove'
  /** Every open call needs a decision; comes again whenever one more does. */
  | 'callsWait'
  /** Every open call needs a person, and one of them is tied to this process. */
  | 'callsHeld'
  /** The grace period is over, and the run can be suspended. */
  | 'suspendDue'
  /** The grace period is over, and the run cannot be suspended. */
  | 'refuseDue'
  /** The host is about to stop. */
  | 'drain'
  /** The client was asked, and at least one call is still undecided. */
  | 'leftUndecided'
  | 'suspendDone'
  | 'suspendFailed'
  | 'end';

export type LiveEffect =
  | 'pauseTime'
  | 'spendTime'
  /** Shows new approvals to a person, gathering those made together. */
  | 'ask'
  | 'startGrace'
  | 'stopGrace'
  /** From now on there is no grace period. */
  | 'endPatience'
  /** The decision comes from another surface: the client does not wait for the whole grace period. */
  | 'shortenGrace'
  | 'suspend'
  | 'refuse'
  /** The run is not suspended a second time: it waits in its worker without a time limit. */
  | 'stayInMemory'
  | 'stopTimers';

export interface Transition {
  readonly to: LiveState;
  readonly effects: readonly LiveEffect[];
}

const go = (to: LiveState, ...effects: LiveEffect[]): Transition => ({ to, effects });

/** An event without an entry changes nothing: it came late, or does not concern that state. */
export const TRANSITIONS: Readonly<Record<LiveState, Partial<Record<LiveEvent, Transition>>>> = {
  computing: {
    callsWait: go('waiting', 'pauseTime', 'ask', 'startGrace'),
    callsHeld: go('held', 'pauseTime', 'ask'),
    refuseDue: go('computing', 'endPatience', 'refuse'),
    drain: go('computing', 'endPatience'),
    end: go('ended', 'stopTimers'),
  },
  waiting: {
    callsMove: go('computing', 'stopGrace', 'spendTime'),
    callsWait: go('waiting', 'ask', 'startGrace'),
    callsHeld: go('held', 'stopGrace', 'ask'),
    suspendDue: go('suspending', 'stopGrace', 'suspend'),
    refuseDue: go('waiting', 'stopGrace', 'endPatience', 'refuse'),
    drain: go('waiting', 'stopGrace', 'endPatience', 'startGrace'),
    leftUndecided: go('waiting', 'shortenGrace'),
    end: go('ended', 'stopTimers'),
  },
  held: {
    callsMove: go('computing', 'spendTime'),
    callsWait: go('waiting', 'ask', 'startGrace'),
    callsHeld: go('held', 'ask'),
    drain: go('held', 'endPatience'),
    end: go('ended', 'stopTimers'),
  },
  suspending: {
    suspendDone: go('suspended', 'stopTimers'),
    suspendFailed: go('computing', 'stayInMemory', 'spendTime'),
    end: go('ended', 'stopTimers'),
  },
  suspended: {},
  ended: {},
};

export function nextState(state: LiveState, event: LiveEvent): Transition {
  return TRANSITIONS[state][event] ?? { to: state, effects: [] };
}
