/** What a user is waiting for, as text: `compiling the Go standard library`. */
export interface Step {
  readonly doing: string;
  /** Why the wait is acceptable: `only the first run waits for this`. */
  readonly note?: string;
}

/** Called each time the step is shown, because its text can change: for example, which servers are still starting. */
export type StepSource = () => Step;

/** Called with a step that takes long, and with `undefined` when it is over. */
export type OnStep = (step: StepSource | undefined) => void;

/** `compiling the Go standard library, 10 s so far; only the first run waits for this`. */
export function stepText({ doing, note }: Step, seconds: number): string {
  return `${doing}, ${seconds} s so far${note === undefined ? '' : `; ${note}`}`;
}

/** Runs an operation and reports the step while it runs. */
export async function duringStep<Result>(
  onStep: OnStep | undefined,
  step: StepSource,
  work: () => Promise<Result>,
): Promise<Result> {
  if (onStep === undefined) return work();
  onStep(step);
  try {
    return await work();
  } finally {
    onStep(undefined);
  }
}
