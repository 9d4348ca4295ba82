/** What somebody waits for, in words for a person: `compiling the Go standard library`. */
export interface Step {
  readonly doing: string;
  /** What makes the wait bearable: `only the first run waits for this`. */
  readonly note?: string;
}

/** Asked each time it is shown: which servers are still starting changes meanwhile. */
export type StepSource = () => Step;

/** Told what takes long, and `undefined` when that is over. */
export type OnStep = (step: StepSource | undefined) => void;

/** `compiling the Go standard library, 10 s so far; only the first run waits for this`. */
export function stepText({ doing, note }: Step, seconds: number): string {
  return `${doing}, ${seconds} s so far${note === undefined ? '' : `; ${note}`}`;
}

/** Does something, and says what it is as long as it takes. */
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
