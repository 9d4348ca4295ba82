/**
 * Waits, and resolves early if the signal aborts. The caller checks the signal afterwards. `isRef: false`: the timer does not keep
 * the process alive.
 */
export function pause(waitMs: number, signal?: AbortSignal, { isRef = true } = {}): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, waitMs);
    if (!isRef) timer.unref();
    signal?.addEventListener('abort', done);
    if (signal?.aborted === true) done();
  });
}
