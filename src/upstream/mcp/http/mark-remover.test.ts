import { expect, test } from 'vitest';
import { MarkRemover } from './mark-remover.js';

test.each([
  ['no mark', '', 'data: x'],
  ['a mark', '\ufeff', '[1]'],
  ['a mark that was encoded twice', Buffer.from('\ufeff').toString('latin1'), 'data: x'],
  ['both', `\ufeff${Buffer.from('\ufeff').toString('latin1')}`, 'data: x'],
  ['a letter that begins like a mark', '', 'ïx'],
])('%s is not at the beginning of what is passed on, however it arrives', (_, mark, rest) => {
  for (const size of [1, 2, 4, 100]) {
    const remover = new MarkRemover();
    const bytes = Buffer.from(`${mark}${rest}`);
    const passed: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) passed.push(remover.remove(bytes.subarray(at, at + size)));
    expect(Buffer.concat(passed).toString()).toBe(rest);
  }
});
