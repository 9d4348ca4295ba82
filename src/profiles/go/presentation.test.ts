import { expect, test } from 'vitest';
import type { JsonValue } from '../../domain/json.js';
import type { BrokerOutcome } from '../../host/session.js';
import { goPresentation } from './presentation.js';

const replied = (structuredContent: JsonValue, content: object[]) =>
  goPresentation.reply({
    ok: true,
    reply: { content, structuredContent, isError: false },
    warnings: [],
  } as unknown as BrokerOutcome);

test('a text beside structured content that is null is what a call gives', () => {
  expect(replied(null, [{ type: 'text', text: 'sunny' }])).toEqual({ ok: true, json: '"sunny"' });
});

test('structured content goes before the text, and null stays where there is not text', () => {
  expect(replied({ n: 1 }, [{ type: 'text', text: 'one' }])).toEqual({ ok: true, json: '{"n":1}' });
  expect(replied(null, [])).toEqual({ ok: true, json: 'null' });
});
