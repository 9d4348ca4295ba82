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
  /** Whose runs the person at the console may undo: runs of other callers are theirs. */
  readonly callers: readonly CallerId[];
}

/** What can be undone of a run, and the way to do it from the console. */
export class RunUndo {
  readonly #parts: RunUndoParts;

  constructor(parts: RunUndoParts) {
    this.#parts = parts;
  }

  /** Throws `not_found` for runs of others, and where no recording is kept. */
  async plan(runId: string): Promise<UndoPlan> {
    const { host, callers } = this.#parts;
    return this.#view((await host.planUndo(runId, callers)).steps);
  }

  /**
   * Undoes what was shown. A call that the policy asks about waits in the inbox: undone again after the decision, it goes on
   * there. Throws `conflict` where something else can be undone by now.
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
