import { describe, expect, test } from 'vitest';
import { startCodemode } from '../../support/codemode-client.js';

/** What a tool sends is what the program gets, and what the program returns is what the client gets. */

const CARD_LIKE = '4111111111111111';
const PIXEL = 'iVBORw0KGgo=';
const KEY = `ghp_${'a1B2'.repeat(9)}`;

const replies = {
  orders: { content: [{ type: 'text', text: `[{"id":${CARD_LIKE},"ref":"4111 1111 1111 1111"}]` }] },
  nothing: { content: [{ type: 'text', text: 'no rows' }], structuredContent: null },
  empty: {},
  odd: {
    content: [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ],
    page: { next: 7 },
    flag: false,
    isError: false,
  },
  icons: {
    content: [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ],
    more: { kept: true },
    _meta: { 'example.com/icons': [{ src: 'data:image/png;base64,AAAA' }] },
  },
  broken: {
    content: [
      { type: 'text', text: 'no chart' },
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
    ],
    isError: true,
  },
  key: { content: [{ type: 'text', text: `the key is ${KEY}` }] },
};

const shop = { tools: Object.keys(replies).map((name) => ({ name, inputSchema: { type: 'object' } })), replies };

describe('data arrives as it was sent', () => {
  test('16-digit numbers stay in tool results, logs and the result', async () => {
    await using codemode = await startCodemode({ scripts: { shop } });
    const { result, logs, diagnostics } = await codemode.run(`
      import { orders } from '@codemode/servers/shop';
      const [first] = JSON.parse(await orders());
      console.log('id ' + first.id + ' ' + first.ref);
      globalThis.__codemode_result__ = [String(first.id), first];
    `);
    expect(result).toEqual([CARD_LIKE, { id: Number(CARD_LIKE), ref: '4111 1111 1111 1111' }]);
    expect(logs.map(({ message }) => message)).toEqual([`id ${CARD_LIKE} 4111 1111 1111 1111`]);
    expect(diagnostics.filter(({ code }) => code === 'REDACTED')).toEqual([]);
  });

  test('a key of a known vendor is redacted, and the diagnostic names the setting', async () => {
    await using codemode = await startCodemode({ scripts: { shop } });
    const { result, diagnostics } = await codemode.run(
      `import { key } from '@codemode/servers/shop'; globalThis.__codemode_result__ = await key();`,
    );
    expect(result).toBe('the key is [redacted:github-token]');
    expect(diagnostics).toContainEqual({
      severity: 'info',
      code: 'REDACTED',
      message: 'Redacted: 1 github-token',
      hint: 'If this is ordinary data, the user can turn it off with redaction.patterns: false.',
    });
  });

  test('card numbers are redacted where the configuration asks for it', async () => {
    await using codemode = await startCodemode({ scripts: { shop }, config: { redaction: { cards: true } } });
    const code = `import { orders } from '@codemode/servers/shop'; globalThis.__codemode_result__ = await orders();`;
    expect(await codemode.value(code)).toContain('[redacted:card]');
  });

  test('structuredContent null is a value, and an empty or odd result stays whole', async () => {
    await using codemode = await startCodemode({ scripts: { shop } });
    const value = await codemode.value(`
      import * as shop from '@codemode/servers/shop';
      globalThis.__codemode_result__ = [await shop.nothing(), await shop.empty(), await shop.odd()];
    `);
    expect(value).toEqual([null, {}, replies.odd]);
  });

  test('`_meta` of a result does not reach the program, every other field does [A23]', async () => {
    await using codemode = await startCodemode({ scripts: { shop } });
    const code = `import { icons } from '@codemode/servers/shop'; globalThis.__codemode_result__ = await icons();`;
    const { content, more } = replies.icons;
    expect(await codemode.value(code)).toEqual({ content, more });
  });

  test('image blocks of a failed call reach the program with its error', async () => {
    await using codemode = await startCodemode({ scripts: { shop } });
    const value = await codemode.value(`
      import { broken } from '@codemode/servers/shop';
      try { await broken() } catch (error) { globalThis.__codemode_result__ = [error.message, error.content] }
    `);
    expect(value).toEqual(['no chart', replies.broken.content]);
  });

  test('what JSON has no word for is named with its place, and a plain result is not [A5]', async () => {
    await using codemode = await startCodemode({ scripts: { shop } });
    const returned = (value: string) => codemode.run(`globalThis.__codemode_result__ = ${value};`);
    const { result, diagnostics } = await returned(
      `{ price: NaN, 'a/b': [1, undefined, -Infinity], gone: undefined, act() {}, map: new Map([[1, 2]]), at: new Date(0) }`,
    );
    expect(result).toEqual({ price: null, 'a/b': [1, null, null], map: {}, at: '1970-01-01T00:00:00.000Z' });
    expect(diagnostics).toMatchObject([
      {
        severity: 'warning',
        code: 'RESULT_NOT_JSON',
        message: expect.stringContaining(
          'NaN at /price, an undefined item at /a~1b/1, -Infinity at /a~1b/2 and 3 more',
        ),
      },
    ]);
    expect((await returned('{ rows: [{ id: 1, mail: undefined }] }')).diagnostics).toMatchObject([
      { severity: 'info', code: 'RESULT_NOT_JSON', message: expect.stringContaining('undefined at /rows/0/mail') },
    ]);
    for (const value of ['{ a: [null, 0, -0, "", false] }', 'undefined', 'null', 'new Date(0)', '{ toJSON: () => 1 }'])
      expect((await returned(value)).diagnostics).toEqual([]);
    // Getters are read a second time for it, and may do what they like then.
    const moody =
      'let reads = 0; globalThis.__codemode_result__ = { get a() { if (reads++ > 0) throw 1; return 2; } };';
    expect(await codemode.run(moody)).toMatchObject({ result: { a: 2 }, diagnostics: [] });
  });

  test('arguments that JSON would change are refused with their place, and nothing is called [A27]', async () => {
    await using codemode = await startCodemode({ scripts: { shop } });
    const tried = (await codemode.value(`
      import { orders } from '@codemode/servers/shop';
      import { SchemaValidationError } from '@codemode/errors';
      const inputs = [{ price: NaN }, { rows: [1, { max: -Infinity }] }, { 'a/b': new Map([[1, 2]]) }, { ids: new Set([1]) },
        { at: new Date(NaN) }, { bytes: new Uint8Array(2) }, { pattern: /x/ }, { why: new Error('x') }, { act() {} }, { order: orders() }, NaN];
      globalThis.__codemode_result__ = await Promise.all(inputs.map((input) => orders(input).then(() => 'called', (error) =>
        [error instanceof SchemaValidationError, error.message, error.path, error.received, error.hint])));`)) as unknown[];
    const refused = (received: string, path: string, hint: RegExp) => [
      true,
      `orders was not called: ${received}${path === '' ? '' : ` at ${path}`} is not JSON`,
      path,
      received,
      expect.stringMatching(hint),
    ];
    expect(tried).toEqual([
      refused('NaN', '/price', /finite number/),
      refused('-Infinity', '/rows/1/max', /finite number/),
      refused('a Map', '/a~1b', /Object\.fromEntries/),
      refused('a Set', '/ids', /\[\.\.\.set\]/),
      refused('an invalid Date', '/at', /valid date/),
      refused('a typed array', '/bytes', /Array\.from/),
      refused('a RegExp', '/pattern', /source/),
      refused('an Error', '/why', /message/),
      refused('a function', '/act', /Leave it out/),
      refused('a Promise', '/order', /await/),
      refused('NaN', '', /finite number/),
    ]);
    // What says itself what it is, and what was left out, pass as ever.
    const passes = `{ at: new Date(0), url: new URL('https://a.example/'), gone: undefined, list: [null, 0, -0, ''] }`;
    await codemode.value(`import { orders } from '@codemode/servers/shop'; await orders(${passes});`);
  });

  test('of a result over the limit the answer has the beginning, and the way to the rest [A5, A36]', async () => {
    await using codemode = await startCodemode({ scripts: { shop } });
    const { result, diagnostics } = await codemode.run(
      `globalThis.__codemode_result__ = Array.from({ length: 20000 }, (_, id) => ({ id, name: 'row ' + id }));`,
    );
    const rows = result as { id: number; name: string }[];
    expect(rows.length).toBeGreaterThan(100);
    expect(rows.slice(0, -1)).toEqual(rows.slice(0, -1).map((_, id) => ({ id, name: `row ${id}` })));
    expect(JSON.stringify(result).length).toBeLessThan(13_000);
    expect(diagnostics).toMatchObject([
      { code: 'RESULT_TOO_LARGE', message: expect.stringContaining('an answer takes 144000') },
    ]);
    const handle = /load\("([^"]+)"\)/.exec(diagnostics[0]?.hint ?? '')?.[1];
    expect(
      await codemode.value(`import { load } from '@codemode/results';
        globalThis.__codemode_result__ = (await load('${handle}')).at(-1);`),
    ).toEqual({ id: 19_999, name: 'row 19999' });
    expect(codemode.client.getInstructions()).toContain('a value too large for its answer');
  });
});
