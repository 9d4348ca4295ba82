/**
 * Knows when what a program left open is what lost a race. A race that is decided leaves its losers open by intent, and the end of
 * the program does not wait for them. Which promise belongs to which call cannot be told in general (`race([work(), late()])`),
 * so what was begun before a race was decided counts as left behind by it, and what was begun later does not.
 *
 * Seen where it happens and not in the source: `Promise.race` may stand in a comment, or be called by another name.
 * Nothing is guarded here: a program that hides a race from this waits for its losers.
 */
export interface Begun {
  readonly call: number;
  readonly timer: number;
}

export interface Races {
  /** Whether everything open was left behind by a race. `newest`: what was begun last of what is open, 0 for nothing. */
  areOver(newest: Begun): boolean;
}

type Decide = typeof Promise.race | typeof Promise.any;

/** Replaces `Promise.race` and `Promise.any` by ones that take notes. `begun`: numbers of the last call and the last timer so far. */
export function watchRaces(begun: () => Begun): Races {
  const NativePromise = Promise;
  const { race, any, resolve, reject } = NativePromise;
  const { then } = NativePromise.prototype;
  const apply = Reflect.apply;
  let leftBehind: Begun | undefined;
  /** Counts decisions that left something behind; a race that was begun before the last one may be part of what it left. */
  let epoch = 0;
  let undecided = 0;

  const follow = (decide: Decide, contestants: Iterable<unknown>, isDecidedByRejection: boolean): Promise<unknown> => {
    let promises: Promise<unknown>[];
    try {
      promises = [...contestants].map((each) => apply(resolve, NativePromise, [each]) as Promise<unknown>);
    } catch (error) {
      return apply(reject, NativePromise, [error]) as Promise<unknown>;
    }
    let open = promises.length;
    let isDecided = open === 0;
    const begunIn = epoch;
    if (!isDecided) undecided++;
    const settle = (isFulfilled: boolean): void => {
      open--;
      if (isDecided || !(isFulfilled || isDecidedByRejection || open === 0)) return;
      isDecided = true;
      if (begunIn === epoch) undecided--;
      if (open === 0) return;
      leftBehind = begun();
      epoch++;
      undecided = 0;
    };
    // Before the race itself, which handles a rejection as this does.
    for (const promise of promises) void apply(then, promise, [() => settle(true), () => settle(false)]);
    return apply(decide as typeof Promise.race, NativePromise, [promises]) as Promise<unknown>;
  };

  // Methods, so that they are no constructors and have the names and lengths of those they stand for.
  const watched = {
    race(this: unknown, contestants: Iterable<unknown>) {
      return this === NativePromise ? follow(race, contestants, true) : apply(race, this, [contestants]);
    },
    any(this: unknown, contestants: Iterable<unknown>) {
      return this === NativePromise ? follow(any, contestants, false) : apply(any, this, [contestants]);
    },
  };
  for (const name of ['race', 'any'] as const)
    Object.defineProperty(NativePromise, name, { value: watched[name], writable: true, configurable: true });

  return {
    areOver: ({ call, timer }) =>
      leftBehind !== undefined && undecided === 0 && call <= leftBehind.call && timer <= leftBehind.timer,
  };
}
