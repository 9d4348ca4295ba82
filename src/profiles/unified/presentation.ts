import type { JsonValue } from '../../domain/json.js';
import type { CallReply } from '../../domain/run.js';
import type { ToolReply } from '../../domain/upstream.js';
import { fullResult } from '../../host/calls/unwrap.js';
import type { Presentation } from '../../host/runs/run-types.js';
import type { BrokerOutcome } from '../../host/session.js';
import { isDeeperThan, MAX_LEVELS } from '../../lib/text/json-depth.js';
import { excessOf } from '../../lib/text/json-excess.js';
import { arrangeArguments } from './arguments.js';
import { toContractHint } from './contract-hint.js';
import { renderResponse, renderSuspended } from './render.js';

/** The contract's wording for events of a run. */
export const unifiedPresentation: Presentation = {
  reply: replyOf,
  arrange: arrangeArguments,
  response: (summary) => renderResponse(summary, summary.label ?? summary.runId) as unknown as JsonValue,
  suspended: (summary) => renderSuspended(summary, summary.label ?? summary.runId) as unknown as JsonValue,
};

function replyOf(outcome: BrokerOutcome): CallReply {
  if (!outcome.ok) return { ok: false, error: { ...outcome.error, hint: toContractHint(outcome.error.hint) } };
  const { structuredJson } = outcome.reply;
  return { ok: true, json: structuredJson ?? JSON.stringify(plainValue(outcome.reply)) };
}

/** The structured value; or the parsed content of a single text that is a JSON object or list; else the whole result. */
function plainValue(reply: ToolReply): JsonValue {
  const { structuredContent, content } = reply;
  if (structuredContent !== undefined) return structuredContent;
  const [only] = content;
  if (content.length === 1 && only?.type === 'text' && typeof only.text === 'string') return parsed(only.text);
  return fullResult(reply);
}

function parsed(text: string): JsonValue {
  // Counted again: in the message it was one string.
  if (!/^\s*[{[]/.test(text) || excessOf(text) !== undefined || isDeeperThan(text, MAX_LEVELS)) return text;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
