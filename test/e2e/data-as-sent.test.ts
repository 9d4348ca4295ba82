import { describe, expect, test } from 'vitest';
import { startCodemode } from '../support/codemode-client.js';

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
      hint: 'If this is ordinary data, the user can list it under redaction.allow, or set redaction.patterns: false.',
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

  test('image blocks of a failed call reach the program with its error', async () => {
    await using codemode = await startCodemode({ scripts: { shop } });
    const value = await codemode.value(`
      import { broken } from '@codemode/servers/shop';
      try { await broken() } catch (error) { globalThis.__codemode_result__ = [error.message, error.content] }
    `);
    expect(value).toEqual(['no chart', replies.broken.content]);
  });
});
