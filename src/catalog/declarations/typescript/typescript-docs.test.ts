import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../domain/json.js';
import { declare, linesOf, tool } from './typescript.test-support.js';

describe('documentation', () => {
  test('a property says its description, default, format, limits, example and deprecation', () => {
    expect(
      linesOf({
        type: 'integer',
        description: 'How many.\n\nAt most a hundred.',
        default: 30,
        minimum: 1,
        maximum: 100,
      }),
    ).toEqual([
      'export function f(input?: {',
      '/**',
      '* How many.',
      '* At most a hundred.',
      '* @integer @default 30 @minimum 1 @maximum 100',
      '*/',
      'p?: number;',
      '}): Promise<ToolOutput>;',
    ]);
    expect(linesOf({ type: 'string', format: 'date', examples: ['2025-01-31'], deprecated: true })).toEqual([
      'export function f(input?: {',
      '/**',
      '* @format date @example "2025-01-31"',
      '* @deprecated',
      '*/',
      'p?: string;',
      '}): Promise<ToolOutput>;',
    ]);
  });

  test('a limit in the way of draft-04 is understood', () => {
    expect(linesOf({ type: 'number', minimum: 3, exclusiveMinimum: true })).toContain('/** @exclusiveMinimum 3 */');
  });

  test('words about the items of a list and about the one option beside null are kept', () => {
    expect(linesOf({ type: 'array', items: { type: 'string', format: 'uuid', description: 'An id.' } })).toContain(
      '/** @items An id. @format uuid */',
    );
    expect(linesOf({ anyOf: [{ type: 'string', description: 'A name.' }, { type: 'null' }] })).toContain(
      '/** A name. */',
    );
  });

  test('a tool says its annotations and that it is deprecated (A26)', () => {
    const annotations = { readOnlyHint: true, destructiveHint: false };
    expect(linesOf({}, { description: 'Reads.', annotations, deprecated: true }).slice(0, 5)).toEqual([
      '/**',
      '* Reads.',
      '* @annotations readOnlyHint: true, destructiveHint: false',
      '* @deprecated',
      '*/',
    ]);
  });

  test('what a type cannot say is a warning beside it', () => {
    expect(linesOf({ type: 'string', not: { const: 'x' } })).toContain(
      '/** @warning not expressed in this type: not */',
    );
    const { text } = declare([tool('f', { type: 'object', if: { required: ['a'] }, else: { required: ['b'] } })]);
    expect(text).toContain('/** @warning not expressed in this type: if/then/else */');
  });

  test('compact keeps a sentence, defaults and formats; every level keeps annotations and warnings [A26]', () => {
    const schema = {
      type: 'object',
      properties: {
        p: { type: 'string', description: 'One, e.g. this. Two.', default: 'x', maxLength: 9, format: 'uri' },
      },
    };
    const one = tool('f', schema, {
      description: 'First. Second.\nThird.',
      annotations: { title: 'Effs', readOnlyHint: false, destructiveHint: true },
    });
    const compact = declare([one], { detail: 'compact' }).text;
    expect(compact).toContain('/** One, e.g. this. @default "x" @format uri */');
    const hints = 'title: "Effs", readOnlyHint: false, destructiveHint: true';
    expect(compact).toContain(`   * First.\n   * @annotations ${hints}\n`);
    expect(compact).not.toMatch(/Second|Two|maxLength/);
    const { text } = declare([one, tool('g', { type: 'object', properties: { p: { not: {} } } })], {
      detail: 'signatures',
    });
    expect(text).toContain('  /** @annotations title: "Effs", destructiveHint: true */\n  export function f(');
    expect(text).toContain('/** @warning not expressed in this type: not */');
    expect(text).not.toMatch(/First|One/);
  });

  test.each([
    ['none of them', { readOnlyHint: false, idempotentHint: false }, undefined],
    [
      'those of a tool that may change something',
      { destructiveHint: false, openWorldHint: false },
      'destructiveHint: false, openWorldHint: false',
    ],
    ['those of a tool that only reads', { readOnlyHint: true, destructiveHint: false }, 'readOnlyHint: true'],
  ])('signatures omit hints that mean what their absence means: %s', (_, annotations, hints) => {
    const { text } = declare([tool('f', {}, { annotations })], { detail: 'signatures' });
    expect(/@annotations (.*?) \*\//.exec(text)?.[1]).toBe(hints);
  });

  test('a title that is only the name in other letters is not repeated', () => {
    expect(declare([tool('list_issues', {}, { title: 'List issues' })]).text).not.toContain('List issues');
  });

  test.each<[string, JsonObject]>([
    ['properties', { type: 'object', properties: 'none' }],
    ['enum', { type: 'object', enum: 'a' }],
    ['anyOf', { type: 'object', anyOf: {} }],
  ])('a schema whose %s cannot be read warns and takes any object', (keyword, schema) => {
    const { text } = declare([tool('f', schema)]);
    expect(text).toContain(`/** @warning ${keyword} is not what JSON Schema says, and is left out */`);
    expect(text).toContain('f(input?: Record<string, unknown>)');
  });

  test('an output schema that cannot be declared warns above the tool', () => {
    const { text } = declare([tool('f', {}, { outputSchema: { $ref: 'https://example.com/x' } })]);
    expect(text).toContain('/** @warning output: refers to another document */');
  });
});
