import { expect, test } from 'vitest';
import * as z from 'zod';
import type { JsonObject } from '../../domain/json.js';
import type { ToolSchema } from '../../lib/standard-schema.js';
import { type FunctionTool, nativeTool } from './function-tools.js';

const CONTEXT = { signal: new AbortController().signal, report: () => {} };
const run = async (tool: FunctionTool, input: JsonObject) => nativeTool('t', tool).execute(input, CONTEXT);

test("zod gives a function's input and output types, and the function gets the parsed input [C9]", async () => {
  const tool: FunctionTool = {
    description: 'A forecast.',
    input: z.object({
      city: z.string().trim(),
      days: z.coerce.number().int().default(3),
      from: z.iso.date().optional(),
    }),
    output: z.object({ warm: z.boolean() }),
    execute: (input) => input,
  };
  const { execute: _, ...described } = nativeTool('forecast', tool);
  expect(described).toMatchObject({
    description: 'A forecast.',
    inputSchema: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { default: 3 }, from: { format: 'date' } },
      required: ['city'],
    },
    outputSchema: { properties: { warm: { type: 'boolean' } }, required: ['warm'] },
  });
  expect(await run(tool, { city: ' Oslo ' })).toEqual({ city: 'Oslo', days: 3 });
  await expect(run(tool, { city: 1 as never, days: 1.5 })).rejects.toThrow(/^city: .*; days: /);
});

test('what zod cannot say in JSON Schema is anything, and is checked all the same [C9]', async () => {
  const tool: FunctionTool = {
    input: z.object({ day: z.string().transform((text) => new Date(text)), size: z.bigint().optional() }),
    execute: (input) => (input.day as unknown as Date).getUTCFullYear(),
  };
  expect(nativeTool('t', tool).inputSchema).toMatchObject({ properties: { day: { type: 'string' }, size: {} } });
  expect(await run(tool, { day: '2031-05-05' })).toBe(2031);
});

test('other Standard Schemas and JSON Schema do as well [C9]', async () => {
  const input: ToolSchema<number> = {
    '~standard': {
      vendor: 'mine',
      validate: async (value) =>
        (value as { n?: number }).n === 1 ? { value: 1 } : { issues: [{ message: 'not one', path: [{ key: 'n' }] }] },
      jsonSchema: { input: () => ({ type: 'object' }), output: () => ({}) },
    },
  };
  expect(nativeTool('t', { input, execute: () => 0 }).inputSchema).toEqual({ type: 'object' });
  expect(await run({ input, execute: (value) => value }, { n: 1 })).toBe(1);
  await expect(run({ input, execute: () => 0 }, { n: 2 })).rejects.toThrow('n: not one');
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const plain = nativeTool('t', { input: schema, execute: (value) => value });
  expect(plain.inputSchema).toEqual(schema);
  expect(plain.inputSchema).not.toBe(schema);
});

test('an invalid tool is refused by name', () => {
  expect(() => nativeTool('t', {} as FunctionTool)).toThrow('tool "t" has no function execute');
  expect(() => nativeTool('t', { input: 7 as never, execute: () => 0 })).toThrow('neither zod nor JSON Schema');
});
