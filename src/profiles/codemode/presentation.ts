import type { JsonValue } from '../../domain/json.js';
import { unwrapOutcome } from '../../host/calls/unwrap.js';
import type { Presentation } from '../../host/runs/run-types.js';
import { separateMedia } from './media.js';
import { renderResponse, renderSuspended } from './render.js';

/** The contract's wording for events of a run. */
export const codemodePresentation: Presentation = {
  reply: unwrapOutcome,
  separateMedia,
  response: (summary) => renderResponse(summary) as unknown as JsonValue,
  suspended: (summary) => renderSuspended(summary) as unknown as JsonValue,
};
