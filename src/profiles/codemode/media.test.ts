import { expect, test } from 'vitest';
import { mediaOf, separateMedia } from './media.js';

const picture = { type: 'image', data: 'aGVsbG8=', mimeType: 'image/png' };

test('images and sounds of an MCP result are found, and only well-formed ones [A23]', () => {
  const sound = { type: 'audio', data: 'aGVs', mimeType: 'audio/wav', extra: 1 };
  const wrong = [
    { ...picture, data: 'not base64' },
    { ...picture, data: 'abc' },
    { ...picture, mimeType: 7 },
    null,
    'image',
    [],
  ];
  expect(mediaOf({ content: [{ type: 'text', text: 'x' }, picture, sound, ...wrong] })).toEqual([
    picture,
    { type: 'audio', data: 'aGVs', mimeType: 'audio/wav' },
  ]);
  for (const other of [null, 1, 'image', [picture], { content: picture }, {}]) expect(mediaOf(other)).toEqual([]);
});

test('a result that is large for its pictures keeps everything else', () => {
  const result = { content: [{ type: 'text', text: 'a caption' }, picture], note: 'kept' };
  const separate = separateMedia(JSON.stringify(result));
  expect(separate?.media).toEqual([picture]);
  expect(JSON.parse(separate?.resultJson ?? '')).toEqual({
    content: [result.content[0], { ...picture, data: expect.stringContaining('separate content block') }],
    note: 'kept',
  });
});

test('a result without pictures, or with more than a client takes, is left as it is', () => {
  expect(separateMedia(JSON.stringify(['"type":"image"']))).toBeUndefined();
  expect(separateMedia(JSON.stringify({ type: 'image' }))).toBeUndefined();
  expect(separateMedia(JSON.stringify({ content: [{ ...picture, data: 'aaaa'.repeat(3e6) }] }))).toBeUndefined();
});
