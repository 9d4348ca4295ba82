import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';

/** More pictures than this in one answer help nobody. */
const MAX_BLOCKS = 20;
/** Messages of more than 10 MB end many connections. */
const MAX_SEPARATED_CHARACTERS = 8 * 1024 * 1024;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * The images and sounds in a result that is an MCP result itself (rule 3 of unwrapping), so that the agent sees them as
 * what they are. The program may have made the result up: a block that is not well formed stays text.
 */
export function mediaOf(result: JsonValue): JsonObject[] {
  if (!isJsonObject(result) || !Array.isArray(result.content)) return [];
  return result.content.flatMap((block) => (isMedia(block) ? [wellFormed(block)] : [])).slice(0, MAX_BLOCKS);
}

/**
 * A result that is only large for its images and sounds, without them: they go beside it. Nothing where there are none, or
 * more than a client takes.
 */
export function separateMedia(resultJson: string): { resultJson: string; media: JsonObject[] } | undefined {
  // Most large results are none: they are not worth parsing.
  if (!/"type":"(?:image|audio)"/.test(resultJson) || resultJson.length > MAX_SEPARATED_CHARACTERS) return undefined;
  const result = JSON.parse(resultJson) as JsonObject;
  const media = mediaOf(result);
  if (media.length === 0) return undefined;
  const content = (result.content as JsonValue[]).map((block) =>
    isMedia(block) ? { ...block, data: '(in a separate content block)' } : block,
  );
  return { resultJson: JSON.stringify({ ...result, content }), media };
}

interface MediaBlock {
  readonly type: 'image' | 'audio';
  readonly data: string;
  readonly mimeType: string;
}

function isMedia(block: JsonValue): block is JsonObject & MediaBlock {
  if (!isJsonObject(block) || (block.type !== 'image' && block.type !== 'audio')) return false;
  const { data, mimeType } = block;
  return typeof mimeType === 'string' && typeof data === 'string' && data.length % 4 === 0 && BASE64.test(data);
}

function wellFormed({ type, data, mimeType }: MediaBlock): JsonObject {
  return { type, data, mimeType };
}
