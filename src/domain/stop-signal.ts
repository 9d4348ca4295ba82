/** The part of `AbortSignal` that our code uses. Both a platform `AbortSignal` and a `Cancellation` fit. */
export interface StopSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
