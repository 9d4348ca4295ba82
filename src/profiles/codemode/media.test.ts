import { expect, test } from 'vitest';
import type { JsonValue } from '../../domain/json.js';
import { separateMedia, withMediaApart } from './media.js';

const mediaOf = (result: JsonValue) => withMediaApart({ logs: [], result, diagnostics: [], toolTrace: [] }).media;

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

const large = { ...picture, data: 'aaaa'.repeat(300) };

test('large pictures of a result go beside it, wherever they are, and everything else stays', () => {
  const result = { content: [{ type: 'text', text: 'a caption' }, large, picture], shots: [{ at: 1, shot: large }] };
  const separate = separateMedia(JSON.stringify(result));
  expect(separate?.media).toEqual([large, large]);
  expect(JSON.parse(separate?.resultJson ?? '')).toEqual({
    content: [result.content[0], { ...large, data: '(in separate content block 1)' }, picture],
    shots: [{ at: 1, shot: { ...large, data: '(in separate content block 2)' } }],
  });
});

test('a result without pictures, or with more than a client takes, is left as it is', () => {
  expect(separateMedia(JSON.stringify(['"type":"image"']))).toBeUndefined();
  expect(separateMedia(JSON.stringify({ type: 'image' }))).toBeUndefined();
  expect(separateMedia(JSON.stringify({ content: [picture] }))).toBeUndefined();
  expect(separateMedia(JSON.stringify({ content: [{ ...picture, data: 'aaaa'.repeat(3e6) }] }))).toBeUndefined();
});
