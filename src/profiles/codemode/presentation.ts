import type { JsonValue } from '../../domain/json.js';
import { unwrapOutcome } from '../../host/calls/unwrap.js';
import type { Presentation } from '../../host/runs/run-types.js';
import { separateMedia } from './media.js';
import { type AnswerSettings, awaitedAnswer, DEFAULT_ANSWER } from './model-answer.js';
import { renderResponse, renderSuspended } from './render.js';

/** The contract's wording for events of a run. */
export function codemodePresentationFor(settings: AnswerSettings): Presentation {
  return {
    reply: unwrapOutcome,
    separateMedia,
    response: (summary) => renderResponse(summary) as unknown as JsonValue,
    suspended: (summary) => renderSuspended(summary) as unknown as JsonValue,
    awaited: (response) => awaitedAnswer(response, settings),
  };
}

/** The same, with the settings that nobody has changed. */
export const codemodePresentation: Presentation = codemodePresentationFor(DEFAULT_ANSWER);
