/**
 * Waits, but not longer than until the signal aborts: then it resolves early. Who has to stop asks the signal afterwards.
 * `isRef: false`: nobody's process stays for it.
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
