/** The first call does the work and the others share its result. A failed call is retried by the next. */
export function once<Result>(make: () => Promise<Result>): (() => Promise<Result>) & { isCalled(): boolean } {
  let made: Promise<Result> | undefined;
  const call = () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
  return Object.assign(call, { isCalled: () => made !== undefined });
}
