import type { JsonValue } from '../../domain/json.js';
import type { Presentation } from '../../host/run.js';
import { unwrapOutcome } from '../../host/unwrap.js';
import { separateMedia } from './media.js';
import { renderResponse, renderSleeping } from './render.js';

/** The contract's words for what happens during a run. */
export const codemodePresentation: Presentation = {
  reply: unwrapOutcome,
  separateMedia,
  response: (summary) => renderResponse(summary) as unknown as JsonValue,
  sleeping: (summary) => renderSleeping(summary) as unknown as JsonValue,
};
