import { expect, test } from 'vitest';
import { shownElicitation } from './shown-elicitation.js';

const link = (url: unknown) => () =>
  shownElicitation('crm', { mode: 'url', message: 'Look', url, elicitationId: '1' } as never);
const form = (properties: object) =>
  shownElicitation('crm', { message: 'Fill in', requestedSchema: { type: 'object', properties } } as never) as {
    requestedSchema: { properties: unknown };
  };

test.each([
  'javascript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'vscode://x/y',
  'ftp://example.com/',
  'https:example.com',
  'https:///example.com',
  'https://user@example.com/',
  'https://example.com:x@evil.example/',
  'https://@evil.example/',
  'https://example.com\\@evil.example/',
  'https://exam\u200bple.com/',
  'https://ex\u0430mple.com/',
  'https://example.com/a\nb',
  'https://example.com/ b',
  ' https://example.com/',
  '\u0001https://example.com/',
  '',
  7,
  undefined,
])('the address %j is refused', (url) => {
  expect(link(url)).toThrow(/is not shown to a person: its address/);
});

test("an http or https address is passed on unchanged, after the server's name", () => {
  for (const url of ['https://example.com/a?b=c@d#e', 'http://127.0.0.1:8080/%20'])
    expect(link(url)()).toEqual({ mode: 'url', message: 'crm asks: Look', url, elicitationId: '1' });
  expect(() => shownElicitation('crm', { mode: 'shell', message: 'x' })).toThrow('mode');
  expect(() => shownElicitation('crm', { message: 'x', url: 'javascript:1', requestedSchema: {} })).toThrow('address');
});

test('words of a form are shown on one line with every character to be seen', () => {
  const { requestedSchema } = form({
    a: {
      type: 'string',
      title: 'A\u202eB',
      description: 'one\ntwo',
      enum: ['x', ''],
      enumNames: ['X\u200b', 'none\r\nat all'],
    },
    b: { oneOf: [{ const: 'x', title: 'X\nY' }] },
  });
  expect(requestedSchema.properties).toEqual({
    a: {
      type: 'string',
      title: 'A\\u202eB',
      description: 'one two',
      enum: ['x', ''],
      enumNames: ['X\\u200b', 'none at all'],
    },
    b: { oneOf: [{ const: 'x', title: 'X Y' }] },
  });
});

test.each<[string, object]>([
  ['a name with a line break', { 'a\nb': { type: 'string' } }],
  ['a name with a hidden character', { 'a\u200b': { type: 'string' } }],
  ['a blank name', { '\u00a0': { type: 'string' } }],
  ['an empty name', { '': { type: 'string' } }],
  ['a value', { a: { type: 'string', enum: ['x', 'x\u200b'] } }],
  ['a blank value', { a: { type: 'string', enum: ['\u3000'] } }],
  ['a constant', { a: { oneOf: [{ const: 'x\u{e0041}', title: 'x' }] } }],
  ['a value of several', { a: { type: 'array', items: { type: 'string', enum: ['a\tb'] } } }],
  ['a default', { a: { type: 'string', default: 'yes\u202e' } }],
  ['defaults of several', { a: { type: 'array', default: ['a\nb'] } }],
])('a form is refused that has %s which cannot be seen', (_, properties) => {
  expect(() => form(properties)).toThrow(/is not shown to a person: it has a name or a value that cannot be seen/);
});
