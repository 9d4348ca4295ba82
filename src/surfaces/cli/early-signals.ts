/**
 * Signals that arrive while the modules are still loading. `codemode runner` writes its one line for those too; every other
 * command keeps the default behaviour.
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
