/**
 * Signals that arrive while the program is still being loaded. Whoever waits for the one line of `codemode runner` gets it
 * for those too; for every other command they do what they always do.
 */
export interface EarlySignals {
  /** The first that came. */
  readonly caught: NodeJS.Signals | undefined;
  /** Stops listening. */
  release(): void;
}

/** Of a command that has no use for them: a signal that came meanwhile acts now. */
export function actOnEarlySignal(early: EarlySignals | undefined): void {
  early?.release();
  if (early?.caught !== undefined) process.kill(process.pid, early.caught);
}
