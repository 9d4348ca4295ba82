/** The first one asks, the second one does not ask any more. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const IMPATIENT_EXIT = 130;

/** A signal that is aborted when somebody wants the program to end. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(IMPATIENT_EXIT);
      stop.abort();
    });
  }
  return stop.signal;
}

/** Ends the process when ending it in order takes too long. What it started dies with it: see the jail and the pipes. */
export function exitWithin(graceMs: number): void {
  setTimeout(() => process.exit(1), graceMs).unref();
}
