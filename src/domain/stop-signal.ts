/** As much of an `AbortSignal` as our own code listens to: one of the platform's will do, and so does a `Cancellation`. */
export interface StopSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
