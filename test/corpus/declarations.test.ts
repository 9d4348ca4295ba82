import { type OutputUnit, type SchemaDraft, type ValidationResult, Validator } from '@cfworker/json-schema';
import { beforeAll, describe, expect, test } from 'vitest';
import { declareModule } from '../../src/catalog/declarations/typescript/typescript.js';
import { SHARED_DECLARATIONS } from '../../src/catalog/declarations/typescript/typescript-frames.js';
import { exampleInput } from '../../src/catalog/examples.js';
import { exportNames } from '../../src/catalog/names.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/domain/json.js';
import type { Tool } from '../../src/domain/tool.js';
import { loadToolsets, ofCorpus, type Toolset } from '../support/corpus.js';
import { schemaValues, spoiledValues } from '../support/schema-values.js';
import { type Complaint, typeCheck } from '../support/type-check.js';

/** Their schemas refer to nothing or have broken patterns: the validator that we compare with gives up on them. */
const UNREADABLE: readonly string[] = ['dangling_reference', 'foreign_reference', 'broken_pattern'];
const isReadable = ({ name }: Tool) => !UNREADABLE.includes(name);
const VALUES_PER_SCHEMA = 3;
const SPOILED_PER_SCHEMA = 4;

describe('declarations of the tools of the corpus', () => {
  let toolsets: readonly Toolset[] = [];
  let lines: readonly ValueLine[] = [];
  let errors: readonly Complaint[] = [];
  let refusedLines: ReadonlySet<string> = new Set();
  const isRefused = ({ file, line }: ValueLine) => refusedLines.has(`${file}:${line}`);

  beforeAll(() => {
    toolsets = loadToolsets();
    lines = toolsets.flatMap(valueLines);
    // One program for all: the declarations, and per server one file with a line for every value.
    const files = new Map([['/shared.d.ts', SHARED_DECLARATIONS]]);
    for (const toolset of toolsets) {
      files.set(`/${toolset.id}.d.ts`, declare(toolset).text);
      for (const detail of ['compact', 'signatures'] as const) {
        const server = { ...toolset, path: `${toolset.id}-${detail}`, serverId: toolset.id };
        files.set(`/${server.path}.d.ts`, declareModule(server, { detail }).text);
      }
      const own = lines.filter((line) => line.file === `/${toolset.id}.ts`);
      const values = own.map(({ type, value }, index) => `const v${index}: ${type} = ${JSON.stringify(value)};`);
      files.set(`/${toolset.id}.ts`, [`import * as m from "@codemode/servers/${toolset.id}";`, ...values].join('\n'));
    }
    errors = typeCheck(files);
    refusedLines = new Set(errors.map(({ file, line }) => `${file}:${line}`));
  }, 180_000);

  test('all tools are declared in every detail and compile under strict', () => {
    expect(toolsets.reduce((sum, { tools }) => sum + tools.length, 0)).toBe(ofCorpus({ own: 436, reference: 1_312 }));
    expect(errors.filter(({ file }) => file.endsWith('.d.ts'))).toEqual([]);
  });

  test('every value that validates fits the declared type', () => {
    const valid = lines.filter((line) => line.isValid);
    const refused = valid.filter(isRefused);
    expect(refused.map(({ type, value }) => ({ type, value }))).toEqual([]);
    expect(valid.length).toBeGreaterThan(ofCorpus({ own: 1_400, reference: 3_000 }));
  });

  test('a wrong type, a missing key and a value outside an enumeration do not fit the type', () => {
    const spoiled = lines.filter((line) => !line.isValid);
    const accepted = spoiled.filter((line) => !isRefused(line));
    expect(accepted.map(({ type, value }) => ({ type, value }))).toEqual([]);
    expect(spoiled.length).toBeGreaterThan(ofCorpus({ own: 700, reference: 1_000 }));
  });

  test('no tool is so large that a type of it is cut, and few lose their descriptions', () => {
    const messages = toolsets.flatMap((toolset) => declare(toolset).warnings.map(({ message }) => message));
    expect(
      messages.filter((message) => message.includes('cut to unknown') || message.includes('types are left out')),
    ).toEqual([]);
    expect(messages.filter((message) => message.includes('descriptions are left out')).length).toBe(
      ofCorpus({ own: 2, reference: 11 }),
    );
  });

  test('the example payload of every schema validates', () => {
    const invalid: string[] = [];
    for (const { id, tools } of toolsets) {
      for (const tool of tools.filter(isReadable)) {
        for (const schema of [tool.inputSchema, tool.outputSchema]) {
          if (schema !== undefined && !validate(schema, exampleInput(schema)).valid) invalid.push(`${id}/${tool.name}`);
        }
      }
    }
    expect(invalid).toEqual(WITHOUT_EXAMPLE);
  });
});

/**
 * No value satisfies `enum: []`; the others have conditions, or patterns that look ahead or know classes of Unicode, which
 * the examples do not follow.
 */
const WITHOUT_EXAMPLE = ofCorpus({
  own: [
    'bare-minimum/empty_enum',
    'bare-minimum/looks_ahead',
    'parcel-locker/price_parcel',
    'sound-archive/add_recording',
  ],
  reference: ['netlify/netlify-coding-rules'],
});

interface ValueLine {
  readonly file: string;
  readonly line: number;
  readonly type: string;
  readonly value: JsonValue;
  readonly isValid: boolean;
}

function declare({ id, serverName, tools }: Toolset) {
  return declareModule({ path: id, serverId: id, serverName, tools });
}

function valueLines(toolset: Toolset, seed: number): ValueLine[] {
  const names = exportNames(toolset.tools.map((tool) => tool.name));
  const found: Omit<ValueLine, 'line' | 'file'>[] = [];
  for (const tool of toolset.tools.filter(isReadable)) {
    const name = names.get(tool.name) as string;
    const sides: [JsonObject | undefined, string][] = [
      [tool.inputSchema, `NonNullable<Parameters<typeof m.${name}>[0]>`],
      [tool.outputSchema, `Awaited<ReturnType<typeof m.${name}>>`],
    ];
    for (const [schema, type] of sides) if (schema !== undefined) found.push(...valuesOf(schema, type, seed, tool));
  }
  return found.map((line, index) => ({ ...line, file: `/${toolset.id}.ts`, line: index + 1 }));
}

function valuesOf(schema: JsonObject, type: string, seed: number, tool: Tool): Omit<ValueLine, 'line' | 'file'>[] {
  const valid = [...schemaValues(schema, seed + tool.name.length, VALUES_PER_SCHEMA)].filter(
    // Arguments of a tool are always an object, whatever its schema allows.
    (value) => validate(schema, value).valid && (schema !== tool.inputSchema || isJsonObject(value)),
  );
  const spoiled = valid
    .slice(0, 1)
    .flatMap((value) => [...spoiledValues(value, seed, SPOILED_PER_SCHEMA)])
    .filter((value) => isTypeError(validate(schema, value).errors));
  return [
    ...valid.map((value) => ({ type, value, isValid: true })),
    ...spoiled.map((value) => ({ type, value, isValid: false })),
  ];
}

/** Whether types can say what is wrong: not a limit, a format or a pattern. */
function isTypeError(errors: readonly OutputUnit[]): boolean {
  const leaves = errors.filter(({ keyword }) => !['properties', 'items', 'additionalProperties'].includes(keyword));
  return leaves.length > 0 && leaves.every(({ keyword }) => ['type', 'required', 'enum', 'const'].includes(keyword));
}

const validators = new WeakMap<JsonObject, Validator>();

function validate(schema: JsonObject, value: JsonValue): ValidationResult {
  const validator = validators.get(schema) ?? new Validator(schema, draftOf(schema), false);
  validators.set(schema, validator);
  return validator.validate(value);
}

function draftOf({ $schema = '' }: JsonObject): SchemaDraft {
  const text = String($schema);
  return text.includes('draft-04') ? '4' : text.includes('draft-07') ? '7' : '2020-12';
}
