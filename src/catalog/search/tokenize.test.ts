import { expect, test } from 'vitest';
import { Spelling } from './spelling.js';
import { stem } from './stem.js';
import { impliedSteps, splitSteps } from './steps.js';
import { wordsOf } from './tokenize.js';

test.each([
  ['get_user-by.id', ['get', 'user', 'by', 'id']],
  ['getUserByID', ['get', 'user', 'by', 'id', 'getuserbyid']],
  ['PDFReader', ['pdf', 'reader', 'pdfreader']],
  ['GitHub PRs', ['git', 'hub', 'github', 'prs']],
  ['Café Ünïcode', ['cafe', 'unicode']],
  ['base64 k8s', ['base64', 'k8s']],
  ['PDF文件搜索', ['pdf', '文件', '件搜', '搜索']],
  ['文', ['文']],
  ['Привет, мир', ['привет', 'мир']],
  ['', []],
])('%s reads as %j', (text, expected) => {
  expect(wordsOf(text)).toEqual(expected);
});

test.each([
  ['list lists listing listed lister'],
  ['generate generates generating generated generator generation'],
  ['merge merger merging merged'],
  ['split splitter splitting splits'],
  ['convert converter conversion converting'],
  ['query queries'],
  ['deploy deployment deployed'],
])('%s have one stem', (forms) => {
  expect(new Set(forms.split(' ').map(stem)).size).toBe(1);
});

test.each([
  ['custom customer'],
  ['direct directions'],
  ['new news'],
  ['app apply'],
  ['com comment'],
  ['state statement'],
])('%s keep stems of their own', (words) => {
  expect(new Set(words.split(' ').map(stem)).size).toBe(2);
});

test('a misspelt word becomes the nearest known one, of equally near ones the commoner', () => {
  const spelling = new Spelling([
    { word: 'delta', documentCount: 2 },
    { word: 'delete', documentCount: 9 },
    { word: 'kubernetes', documentCount: 1 },
  ]);
  expect(['delte', 'kuberntees', 'kubernets', 'dlt', 'unrelated'].map((word) => spelling.nearest(word))).toEqual([
    'delete',
    'kubernetes',
    'kubernetes',
    undefined,
    undefined,
  ]);
});

test('nouns joined by `and` stay one step, verbs begin another', () => {
  expect(splitSteps('compare apples and pears, merge both and then save it')).toEqual([
    'compare apples and pears',
    'merge both',
    'save it',
  ]);
});

test('a dot inside a path or a number ends no step', () => {
  expect(splitSteps('read /a/b.c.txt at 3.5 percent')).toEqual(['read /a/b.c.txt at 3.5 percent']);
});

test('a path that something is saved to implies writing, any other reading, an address nothing', () => {
  expect(impliedSteps('what is in /a/b.md')).toEqual(['read file']);
  expect(impliedSteps('what is in /a/b')).toEqual(['list directory']);
  expect(impliedSteps('draw the numbers of ~/a/b.xlsx')).toEqual(['read excel sheet']);
  expect(impliedSteps('save it to /a/b.md')).toEqual(['write file']);
  expect(impliedSteps('save it to /a/b.xlsx')).toEqual(['write excel sheet']);
  expect(impliedSteps('take /a/b.pdf and save it to /c/d.md')).toEqual(['write file', 'read pdf']);
  expect(impliedSteps('look at https://example.com/a/b.md')).toEqual([]);
});

test('a relative date implies asking for the date, a distance asking for coordinates', () => {
  expect(impliedSteps('what is due next week')).toEqual(['get current time date']);
  expect(impliedSteps('cafes within 2 km')).toEqual(['geocode address coordinates']);
});
