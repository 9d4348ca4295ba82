/** What is there at once in one implementation, and later in another. `await` takes both. */
export type Awaitable<Result> = Result | Promise<Result>;

/** Ends what was begun; a second call does nothing. */
export type Stop = () => void;
