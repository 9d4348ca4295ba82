// atob, btoa and DOMException are the engine's own. This is why: they are right.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { evaluateInNode, type Guest, seededRandom, startGuest } from './run-in-quickjs.test-support.js';

let guest: Guest;
beforeAll(async () => {
  guest = await startGuest('');
});
afterAll(() => guest.close());

const TRY = `(name, text) => {
  try { return globalThis[name](text); } catch (error) {
    return { name: error.name, code: error.code, isDom: error instanceof DOMException, isError: error instanceof Error };
  }
}`;

test.each(['atob', 'btoa'] as const)(
  '%s of the engine does what Node does, whitespace, padding and errors included',
  (name) => {
    const random = seededRandom(64);
    const pieces = [
      'A',
      'z',
      '0',
      '+',
      '/',
      '=',
      '==',
      ' ',
      '\t',
      '\n',
      '\f',
      '\r',
      '\v',
      '\u00a0',
      '-',
      '_',
      '*',
      '\0',
      '\xff',
      'ā',
      'Zm9v',
      'YQ==',
      'YQ',
      'YWI=',
    ];
    const texts = Array.from({ length: 5_000 }, () =>
      Array.from({ length: Math.floor(random() * 7) }, () => pieces[Math.floor(random() * pieces.length)]).join(''),
    );
    const attempt = evaluateInNode(TRY) as (name: string, text: string) => unknown;
    expect(guest.call(`(texts) => texts.map((text) => (${TRY})('${name}', text))`, texts)).toEqual(
      texts.map((text) => attempt(name, text)),
    );
  },
);

test('DOMException of the engine can be made, thrown and told apart', () => {
  expect(
    guest.evaluate(`(() => {
      const error = new DOMException('gone', 'AbortError');
      return [error.name, error.message, error.code, String(error), error instanceof Error, typeof error.stack, new DOMException().name, DOMException.DATA_CLONE_ERR];
    })()`),
  ).toEqual(['AbortError', 'gone', 20, 'AbortError: gone', true, 'string', 'Error', 25]);
});
