import { isJsonObject, type JsonValue } from '../../domain/json.js';
import type { Presentation } from '../../host/runs/run-types.js';
import { envelopeOf } from './envelope.js';
import { renderBadRequest, renderScript } from './render.js';

/** The contract's wording for events of a run. */
export const codeExecutionPresentation: Presentation = {
  reply: envelopeOf,
  seen: (answer) => (isJsonObject(answer) ? (answer.result ?? null) : answer),
  response: (summary) => renderScript(summary) as unknown as JsonValue,
  // A script cannot be suspended, so no client ever reads this.
  suspended: ({ runId }) => renderBadRequest(`run ${runId} waits for a person`) as unknown as JsonValue,
};
