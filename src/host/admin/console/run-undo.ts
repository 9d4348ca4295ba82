import type { Redactor } from '../../../broker/redaction/redactor.js';
import type { UndoAnswer, UndoPlan, UndoStepView } from '../../../domain/console/scripts.js';
import { HostError } from '../../../domain/errors.js';
import type { CallerId } from '../../../domain/run.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import type { Host } from '../../host.js';
import type { UndoStep } from '../../undo/undo-plan.js';

export interface RunUndoParts {
  readonly host: Pick<Host, 'planUndo'>;
  readonly redactor: Redactor;
  /** The callers whose runs the person at the console may undo. Other callers undo their own runs. */
  readonly callers: readonly CallerId[];
}

/** Plans and performs undo from the console. */
export class RunUndo {
  readonly #parts: RunUndoParts;

  constructor(parts: RunUndoParts) {
    this.#parts = parts;
  }

  /** Throws `not_found` for runs of other callers, and if no recording is kept. */
  async plan(runId: string): Promise<UndoPlan> {
    const { host, callers } = this.#parts;
    return this.#view((await host.planUndo(runId, callers)).steps);
  }

  /**
   * Undoes the steps that were shown. A call that needs approval waits in the inbox; calling `undo` again after the decision
   * continues there. Throws `conflict` if the undoable steps have changed since.
   */
  async undo(runId: string, shown: readonly number[], signal: AbortSignal): Promise<UndoAnswer> {
    const { host, callers } = this.#parts;
    const plan = await host.planUndo(runId, callers);
    const ready = plan.steps.filter(({ state }) => state === 'ready').map(({ call }) => call);
    if (ready.length !== shown.length || ready.some((call, index) => call !== shown[index]))
      throw new HostError('conflict', 'What can be undone has changed since it was shown. Look at it again.');
    const done = await plan.undo({ signal });
    const after = await this.plan(runId);
    return {
      ...after,
      done: done.map(({ step, outcome, message }) => ({ call: step.call, outcome, ...omitUndefined({ message }) })),
    };
  }

  #view(steps: readonly UndoStep[]): UndoPlan {
    const { redactor } = this.#parts;
    return {
      steps: steps.map(({ call, tool, state, why, inverse }): UndoStepView => {
        const step = { call, tool, state, why };
        if (inverse === undefined) return step;
        return { ...step, inverse: { tool: inverse.tool, arguments: redactor.bulk(inverse.arguments) } };
      }),
    };
  }
}
