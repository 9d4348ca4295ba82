import type { ToolReply } from '../domain/upstream.js';

/** The size of what a program is given: the structured content if there is any, otherwise the texts and data. */
export function replyBytes({ content, structuredContent, structuredJson }: ToolReply): number {
  if (structuredContent !== undefined) return Buffer.byteLength(structuredJson ?? JSON.stringify(structuredContent));
  let bytes = 0;
  for (const { text, data } of content) {
    if (typeof text === 'string') bytes += Buffer.byteLength(text);
    if (typeof data === 'string') bytes += data.length;
  }
  return bytes;
}
