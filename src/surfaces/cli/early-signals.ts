/**
 * Signals that arrive while the modules are still loading. `codemode runner` writes its one line for those too; every other
 * command keeps the default behaviour.
 */
export interface EarlySignals {
  /** The first signal that arrived. */
  readonly caught: NodeJS.Signals | undefined;
  /** Stops listening. */
  release(): void;
}

/** For a command without its own signal handling: a signal that arrived during loading takes effect now. */
export function actOnEarlySignal(early: EarlySignals | undefined): void {
  early?.release();
  if (early?.caught !== undefined) process.kill(process.pid, early.caught);
}
