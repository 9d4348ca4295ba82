import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../domain/json.js';
import { cpuMsOf } from '../../../lib/cpu-time.test-support.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { firstSentences } from '../doc-comment.js';
import { toolSignature } from './signature.js';

const signature = (inputSchema: JsonObject | undefined, outputSchema?: JsonObject, observed?: string) =>
  toolSignature(
    {
      serverId: 's',
      name: 'f',
      ...omitUndefined({ inputSchema, outputSchema }),
    },
    'f',
    observed,
  );

describe('a signature', () => {
  test.each([
    ['no schema', undefined, 'f()'],
    ['no properties', { type: 'object', properties: {} }, 'f()'],
    ['any object', { type: 'object' }, 'f(object)'],
    ['a list', { type: 'array', items: { type: ['string', 'null'] } }, 'f((string | null)[])'],
    [
      'a nullable optional property',
      { type: 'object', properties: { a: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null } } },
      'f({ a?: number })',
    ],
    [
      'a default of another type',
      { type: 'object', properties: { a: { type: 'string', default: 5 } } },
      'f({ a?: string })',
    ],
    [
      'a flag with a default',
      { type: 'object', properties: { a: { type: 'boolean', default: false } } },
      'f({ a = false })',
    ],
    [
      'a default in words that is not a limit',
      { type: 'object', properties: { width: { type: 'number', description: 'default 5' } } },
      'f({ width?: number })',
    ],
    [
      'further keys',
      { type: 'object', properties: { a: {} }, additionalProperties: { type: 'string' } },
      'f({ a?: unknown, … })',
    ],
    [
      'a union of objects',
      {
        oneOf: [
          { type: 'object', properties: { a: { const: 1 } }, required: ['a'] },
          { type: 'object', properties: { b: { type: 'string' } } },
        ],
      },
      'f({ a: 1 } | { b?: string })',
    ],
    [
      'many values',
      { type: 'object', properties: { a: { enum: [1, 2, 3, 4, 5, 6, 7, 8] } } },
      'f({ a?: 1 | 2 | 3 | 4 | 5 | 6 | … })',
    ],
  ])('of %s', (_, schema, expected) => {
    expect(signature(schema as JsonObject | undefined)).toBe(expected);
  });

  test('has what was observed where it is short and nothing is declared', () => {
    expect(signature(undefined, undefined, '{\n  a: string;\n  b?: number;\n}')).toBe(
      'f(): { a: string, b?: number } /* observed */',
    );
    expect(signature(undefined, undefined, 'x'.repeat(500))).toBe('f()');
  });

  test('shortens what was observed by whole members, and says what kind of text it is', () => {
    const members = Array.from({ length: 12 }, (_, index) => `member_${index}: string;`).join('\n');
    const observed = `{\n  items: {\n${members}\n}[];\n  total: number;\n}`;
    const short =
      '{ items: { member_0: string, member_1: string, member_2: string, member_3: string, member_4: string, member_5: string, member_6: string, … }[] }';
    expect(signature(undefined, undefined, observed)).toBe(`f(): ${short} /* observed */`);
    expect(signature(undefined, undefined, `/** JSON text of: ${observed} */ string`)).toBe(
      `f(): /** JSON text of: ${short} */ string /* observed */`,
    );
    const foreign = `/** JSON text of: { "a } , b": string; ${members} } */ string`;
    expect(signature(undefined, undefined, foreign)).toBe('f(): /** JSON text */ string /* observed */');
  });

  test('lists the property names of rows whose types do not fit', () => {
    const text = { type: 'string' };
    const row = {
      type: 'object',
      properties: { id: text, name: text, kind: { enum: ['straw', 'frame', 'top-bar'] }, born: text, notes: text },
      required: ['id', 'name'],
    };
    const page = {
      type: 'object',
      properties: { items: { type: 'array', items: row }, next_cursor: text, last: row },
      required: ['items'],
    };
    const rowNames = '{ id, name, kind?, born?, notes? }';
    expect(signature(undefined, page)).toBe(`f(): { items: ${rowNames}[], next_cursor?: string, last?: ${rowNames} }`);
  });

  test('of a schema that refers to itself many times is made in no time', () => {
    const tree = { type: 'array', items: { anyOf: Array.from({ length: 20 }, () => ({ $ref: '#/$defs/t' })) } };
    const schema = { type: 'object', properties: { t: { $ref: '#/$defs/t' } }, $defs: { t: tree } };
    expect(cpuMsOf(() => signature(schema))).toBeLessThan(500);
  });
});

describe('first sentences', () => {
  test('are the text itself where it is short', () => {
    expect(firstSentences('Two\nlines', 20)).toBe('Two\nlines');
  });

  test('end at the end of a sentence, or are cut', () => {
    expect(firstSentences('One, e.g. this. Two. Three is far too long.', 25)).toBe('One, e.g. this. Two.');
    expect(firstSentences('word '.repeat(20), 22)).toBe('word word word word…');
  });
});
