import { expect, test } from 'vitest';
import { findBrokenLinks } from './check-links.mjs';

test('a link to a file, a folder, a heading or a line that exists is accepted', () => {
  const text = [
    '[a](../README.md) [b](decisions) [c](glossary.md#runs) [d](#part-one) [e](../src/main.ts#L3) [f](https://example.com/x)',
    '[g](https://github.com/codemode/codemode/blob/main/src/main.ts#L3)',
    '# Part one',
    '```sh\n[not a link](nowhere.md)\n```',
  ].join('\n');
  expect(findBrokenLinks('docs/page.md', text)).toEqual([]);
});

test('a link to nothing is named, with what is missing', () => {
  const text =
    '[a](none.md) [b](glossary.md#none) [c](#none) [d](../src/main.ts#L99999) [e](https://github.com/codemode/codemode/blob/main/none.ts)';
  expect(findBrokenLinks('docs/page.md', text)).toEqual([
    'docs/page.md: none.md: there is no such file',
    'docs/page.md: glossary.md#none: there is no such heading',
    'docs/page.md: #none: there is no such heading',
    'docs/page.md: ../src/main.ts#L99999: the file has fewer lines than that',
    'docs/page.md: https://github.com/codemode/codemode/blob/main/none.ts: there is no such file',
  ]);
});

test('docs/security names only code that exists', () => {
  expect(findBrokenLinks('docs/security/page.md', '`src/main.ts`, `src/none.ts`, `src/broker/`')).toEqual([
    'docs/security/page.md: src/none.ts: there is no such file or folder',
  ]);
});
