import type { ToolReply } from '../domain/upstream.js';

/** Of structured content where there is some, else of the texts and data: what a program is given. */
export function replyBytes({ content, structuredContent, structuredJson }: ToolReply): number {
  if (structuredContent !== undefined) return Buffer.byteLength(structuredJson ?? JSON.stringify(structuredContent));
  let bytes = 0;
  for (const { text, data } of content) {
    if (typeof text === 'string') bytes += Buffer.byteLength(text);
    if (typeof data === 'string') bytes += data.length;
  }
  return bytes;
}
