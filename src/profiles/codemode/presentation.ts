import type { JsonValue } from '../../domain/json.js';
import type { Presentation } from '../../host/session.js';
import { renderResponse } from './render.js';
import { unwrapOutcome } from './unwrap.js';

/** The contract's words for what happens during a run. */
export const codemodePresentation: Presentation = {
  reply: unwrapOutcome,
  response: (summary) => renderResponse(summary) as unknown as JsonValue,
};
