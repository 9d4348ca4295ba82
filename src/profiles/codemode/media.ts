import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { RunResponse } from './render.js';

/** More images in one answer do not help. */
const MAX_BLOCKS = 20;
/** Messages of more than 10 MB break many connections. */
const MAX_SEPARATED_CHARACTERS = 8 * 1024 * 1024;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * The images and audio in a result that is itself an MCP result (rule 3 of unwrapping), so that the agent gets them as media. The
 * program may have invented the result: a malformed block stays text.
 */
function mediaOf(result: JsonValue): JsonObject[] {
  if (!isJsonObject(result) || !Array.isArray(result.content)) return [];
  return result.content.flatMap((block) => (isMedia(block) ? [wellFormed(block)] : [])).slice(0, MAX_BLOCKS);
}

/** A smaller block costs less than a note about it. */
const LEAST_SEPARATED_CHARACTERS = 1_000;
const MAX_DEPTH = 8;

/**
 * A response with the images and audio of its result separated, wherever the program put them. As text they cost a model thousands
 * of tokens and tell it nothing. Small ones stay.
 */
export function withMediaApart(response: RunResponse): { response: RunResponse; media: readonly JsonObject[] } {
  const media: JsonObject[] = [];
  const result = withoutMedia(response.result, media, 0);
  return media.length === 0
    ? { response, media: mediaOf(response.result) }
    : { response: { ...response, result }, media };
}

/** A result that is too large to pass on, without its images and audio. Undefined if there are none, or more than a client accepts. */
export function separateMedia(resultJson: string): { resultJson: string; media: JsonObject[] } | undefined {
  // Most results have none and are not worth parsing.
  if (!/"type":"(?:image|audio)"/.test(resultJson) || resultJson.length > MAX_SEPARATED_CHARACTERS) return undefined;
  const media: JsonObject[] = [];
  const result = withoutMedia(JSON.parse(resultJson) as JsonValue, media, 0);
  return media.length === 0 ? undefined : { resultJson: JSON.stringify(result), media };
}

function withoutMedia(value: JsonValue, media: JsonObject[], depth: number): JsonValue {
  if (value === null || typeof value !== 'object' || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => withoutMedia(item, media, depth + 1));
  if (isMedia(value) && value.data.length >= LEAST_SEPARATED_CHARACTERS && media.length < MAX_BLOCKS) {
    media.push(wellFormed(value));
    return { ...value, data: `(in separate content block ${media.length})` };
  }
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, withoutMedia(held, media, depth + 1)]));
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
