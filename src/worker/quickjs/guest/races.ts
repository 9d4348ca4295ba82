/**
 * Detects whether everything that a program left open lost a race. A decided race leaves its losers open by intent, and the end of
 * the program does not wait for them. In general it is unknown which promise belongs to which call (`race([work(), late()])`), so
 * anything started before a race was decided counts as a loser, and anything started later does not.
 *
 * Detected at run time and not in the source: `Promise.race` may be in a comment, or be called by another name. This is not a
 * security control: a program that hides a race from it waits for its losers.
 */
export interface Begun {
  readonly call: number;
  readonly timer: number;
}

export interface Races {
  /** Whether everything open was left behind by a race. `newest`: the latest open call and timer, 0 for none. */
  areOver(newest: Begun): boolean;
}

type Decide = typeof Promise.race | typeof Promise.any;

/** Replaces `Promise.race` and `Promise.any` by recording versions. `begun`: the numbers of the last call and the last timer so far. */
export function watchRaces(begun: () => Begun): Races {
  const NativePromise = Promise;
  const { race, any, resolve, reject } = NativePromise;
  const { then } = NativePromise.prototype;
  const apply = Reflect.apply;
  let leftBehind: Begun | undefined;
  /** Counts decisions that left something behind. A race that was started before the last decision may be among the losers. */
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
    // Before the race itself, which handles a rejection in the same way.
    for (const promise of promises) void apply(then, promise, [() => settle(true), () => settle(false)]);
    return apply(decide as typeof Promise.race, NativePromise, [promises]) as Promise<unknown>;
  };

  // Methods, because they are not constructors and have the names and lengths of the originals.
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
