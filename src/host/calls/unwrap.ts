import type { BrokerOutcome } from '../../broker/broker.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { CallReply } from '../../domain/run.js';
import type { ToolReply } from '../../domain/upstream.js';

/** The value a program gets for a call, in every contract that returns the value alone: the first rule that matches. */
export function unwrapOutcome(outcome: BrokerOutcome): CallReply {
  if (!outcome.ok) return { ok: false, error: outcome.error };
  return { ok: true, json: outcome.reply.structuredJson ?? JSON.stringify(unwrap(outcome.reply)) };
}

export function unwrap(reply: ToolReply): JsonValue {
  if (reply.structuredContent !== undefined) return reply.structuredContent;
  const [only] = reply.content;
  if (reply.content.length === 1 && only?.type === 'text' && typeof only.text === 'string') return only.text;
  return fullResult(reply);
}

/**
 * The whole MCP result with every field that the server sent, except `_meta` of the result and of its blocks: icons and names are
 * of no use to a program.
 */
export function fullResult(reply: ToolReply): JsonObject {
  return {
    ...(reply.hasNoContent === true ? {} : { content: reply.content.map(({ _meta, ...block }) => block) }),
    ...reply.rest,
    ...(reply.isError ? { isError: true } : {}),
  };
}
