/** The first call does it, the others share it. One that failed is tried again. */
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
