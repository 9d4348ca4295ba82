/** A result that one implementation has at once and another has later. `await` takes both. */
export type Awaitable<Result> = Result | Promise<Result>;

/** Stops what was started. A second call does nothing. */
export type Stop = () => void;
