/** A test file below `test/` (or from `src/` on), and the title of a test in it as the source has it, without ids. */
export type TestOf = readonly [file: string, title: string];

/** One fact that a contract's document states, in our words, and how we stand to it. */
export type Statement = {
  /** The requirement of test/requirements.ts that it is a part of, a dot, and its number in it: `A3.2`. */
  readonly id: string;
  /** Where in the document. */
  readonly clause: string;
  readonly says: string;
} & (
  | { readonly test: TestOf | readonly TestOf[] }
  /** A figure, which no test asserts because machines differ: the command that shows it, and what it showed. */
  | { readonly measured: string }
  /** Why we do otherwise, on purpose. */
  | { readonly differs: string }
  /** What is missing: a test, or the behaviour itself. */
  | { readonly open: string }
);
