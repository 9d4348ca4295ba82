import type { JsonObject, JsonValue } from '../../domain/json.js';

/** More pictures than this in one answer help nobody. */
const MAX_BLOCKS = 20;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * The images and sounds in a result that is an MCP result itself (rule 3 of unwrapping), so that the agent sees them as
 * what they are. The program may have made the result up: a block that is not well formed stays text.
 */
export function mediaOf(result: JsonValue): JsonObject[] {
  if (!isObject(result) || !Array.isArray(result.content)) return [];
  return result.content.flatMap((block) => (isMedia(block) ? [wellFormed(block)] : [])).slice(0, MAX_BLOCKS);
}

interface MediaBlock {
  readonly type: 'image' | 'audio';
  readonly data: string;
  readonly mimeType: string;
}

function isMedia(block: JsonValue): block is JsonObject & MediaBlock {
  if (!isObject(block) || (block.type !== 'image' && block.type !== 'audio')) return false;
  const { data, mimeType } = block;
  return typeof mimeType === 'string' && typeof data === 'string' && data.length % 4 === 0 && BASE64.test(data);
}

function wellFormed({ type, data, mimeType }: MediaBlock): JsonObject {
  return { type, data, mimeType };
}

function isObject(value: JsonValue): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
