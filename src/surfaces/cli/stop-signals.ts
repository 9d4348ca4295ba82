/** The first signal asks for a graceful shutdown, the second exits at once. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const IMPATIENT_EXIT = 130;

/** Aborted when the process is asked to stop. */
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

/** Exits if a graceful shutdown takes too long. Child processes end too: see the jail and the pipes. */
export function exitWithin(graceMs: number): void {
  setTimeout(() => process.exit(1), graceMs).unref();
}
