import { beforeAll, describe, expect, test } from 'vitest';
import { compileSchema } from '../../src/broker/arguments/compile.js';
import { findProblems } from '../../src/broker/arguments/evaluate.js';
import { ToolChecker } from '../../src/broker/arguments/tool-checker.js';
import { exampleInput } from '../../src/catalog/examples.js';
import type { JsonObject, JsonValue } from '../../src/domain/json.js';
import type { Tool } from '../../src/domain/tool.js';
import { loadToolsets, ofCorpus } from '../support/corpus.js';
import { randomNumbers, schemaValues } from '../support/schema-values.js';

const MUTATIONS = 1_000;

describe('arguments of the tools of the corpus', () => {
  const checker = new ToolChecker(exampleInput);
  let tools: readonly Tool[] = [];

  beforeAll(() => {
    tools = loadToolsets().flatMap((toolset) => toolset.tools);
  });

  test('the example input of every tool is taken', () => {
    const refused = tools.flatMap((tool) => {
      const verdict = checker.checkArguments(tool, tool.name, exampleInput(tool.inputSchema));
      return verdict.ok ? [] : [verdict.error.message];
    });
    expect(refused).toEqual(WITHOUT_EXAMPLE);
    expect(tools).toHaveLength(ofCorpus({ own: 436, reference: 1_312 }));
  });

  test('all but a few schemas are enforced whole', () => {
    const partly = tools.filter((tool) => checker.warningsOf(tool).length > 0).map((tool) => tool.name);
    expect(partly).toEqual(PARTLY_ENFORCED);
  });

  test('of 1,000 inputs with one thing broken, the error names the place', () => {
    const found = { exact: 0, around: 0 };
    const wrong: JsonValue[] = [];
    for (const { tool, value, path } of brokenInputs(tools)) {
      const verdict = checker.checkArguments(tool, tool.name, value);
      if (verdict.ok) continue;
      const reported = String(verdict.error.fields?.['path']);
      if (reported === path) found.exact += 1;
      // In one of several forms, a wrong type can mean that another form was wanted, or a key of another form.
      else if (isInForms(tool, path) && (path.startsWith(`${reported}/`) || parentOf(path) === parentOf(reported)))
        found.around += 1;
      else wrong.push({ tool: tool.name, path, reported, message: verdict.error.message });
      if (found.exact + found.around + wrong.length === MUTATIONS) break;
    }
    expect(wrong).toEqual([]);
    expect(found.exact + found.around).toBe(MUTATIONS);
    expect(found.exact).toBeGreaterThan(0.95 * MUTATIONS);
  });

  test('every error has one short hint, a bounded message and an example that the tool takes', () => {
    const lengths: number[] = [];
    for (const { tool, value } of brokenInputs(tools)) {
      const verdict = checker.checkArguments(tool, tool.name, value);
      if (verdict.ok) continue;
      const { hint, message, fields = {} } = verdict.error;
      expect(hint).toMatch(/^[A-Z].{5,500}\.$/su);
      expect(message.length).toBeLessThan(4_000);
      for (const name of ['toolName', 'exportName', 'path', 'expected', 'received'])
        expect(fields).toHaveProperty(name);
      if (fields['example'] !== undefined)
        expect(checker.checkArguments(tool, tool.name, fields['example'])).toEqual({ ok: true });
      lengths.push(message.length);
      if (lengths.length === 300) break;
    }
    expect(lengths).toHaveLength(300);
  });
});

/**
 * No example can be made where a schema allows no value (`enum: []`; the rule is not enforced). None is made of conditions
 * (`if`) and of patterns with Unicode classes.
 */
const WITHOUT_EXAMPLE = ofCorpus<readonly unknown[]>({
  own: [
    'Invalid input for empty_enum at /kind: expected string, received null.',
    expect.stringMatching(/^Invalid input for price_parcel at \/customs_code: expected required property/),
    expect.stringMatching(/^Invalid input for add_recording at \/file_name: expected string that matches/),
  ],
  reference: ['Invalid input for netlify-coding-rules at /creationType: expected string, received null.'],
});

/** Tools of which something is left to their servers, such as patterns that look ahead. */
const PARTLY_ENFORCED = ofCorpus<readonly string[]>({
  own: ['empty_enum', 'unknown_type', 'dangling_reference', 'foreign_reference', 'looks_ahead', 'broken_pattern'],
  reference: [
    'linear_generateOAuthApplicationSetup',
    'linear_createManagedOAuthApplication',
    'linear_updateManagedOAuthApplication',
    'netlify-coding-rules',
    'getWorkspace',
  ],
});

interface BrokenInput {
  readonly tool: Tool;
  readonly value: JsonValue;
  readonly path: string;
}

/** Valid inputs with one thing in them made wrong, and where; some of them are still valid. */
function* brokenInputs(tools: readonly Tool[]): Generator<BrokenInput> {
  const random = randomNumbers(42);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const usable = tools.filter(
    ({ inputSchema }) => Object.keys((inputSchema?.properties ?? {}) as JsonObject).length > 0,
  );
  for (let attempt = 0; attempt < 20_000; attempt += 1) {
    const tool = pick(usable);
    const schema = tool.inputSchema as JsonObject;
    const [value] = [...schemaValues(schema, attempt, 1)];
    if (value === undefined || findProblems(compileSchema(schema).root, value).length > 0) continue;
    const places = [...placesOf(value)];
    if (places.length > 0) yield { tool, ...broken(value, pick(places), random) };
  }
}

function broken(value: JsonValue, path: readonly string[], random: () => number) {
  const copy = structuredClone(value);
  let holder = copy as JsonObject;
  for (const key of path.slice(0, -1)) holder = holder[key] as JsonObject;
  const key = path.at(-1) as string;
  const pointer = path.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  const choice = random();
  if (!Array.isArray(holder) && choice < 0.25) delete holder[key];
  else if (!Array.isArray(holder) && choice < 0.4) {
    holder['surely_unknown'] = 1;
    return { value: copy, path: `${pointer.slice(0, pointer.lastIndexOf('/'))}/surely_unknown` };
  } else if (typeof holder[key] === 'string') holder[key] = choice < 0.7 ? 12 : `${holder[key]}~`;
  else holder[key] = typeof holder[key] === 'number' ? 'twelve' : 0.5;
  return { value: copy, path: pointer };
}

function* placesOf(value: JsonValue, path: readonly string[] = []): Generator<readonly string[]> {
  if (path.length > 0) yield path;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) yield* placesOf(child, [...path, key]);
}

function parentOf(pointer: string): string {
  return pointer.slice(0, pointer.lastIndexOf('/'));
}

/** Whether the schema offers several forms somewhere on the way. */
function isInForms(tool: Tool, path: string): boolean {
  return path !== '' && /"(?:anyOf|oneOf)"/.test(JSON.stringify(tool.inputSchema));
}
