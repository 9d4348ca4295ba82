import type { JsonValue } from '../../domain/json.js';
import type { Presentation, RunAnswer } from './run-types.js';

/** The answer of a run as its contract words it. */
export function presentAnswer(presentation: Presentation, answer: RunAnswer): JsonValue {
  switch (answer.state) {
    case 'succeeded':
    case 'failed':
    case 'cancelled':
      return presentation.response(answer.summary);
    case 'suspended':
      return presentation.suspended(answer.summary);
    case 'running':
      return { runId: answer.runId };
  }
}
