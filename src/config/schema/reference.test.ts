import { expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { type ConfigKey, configKeys } from './reference.test-support.js';
import { configSchema } from './schema.js';

const keys = configKeys(configSchema);

test('docs/reference/config.md lists every key (renew: npx vitest run src/config/schema -u)', async () => {
  const groups = Object.keys(configSchema.shape).map((name) => {
    const rows = keys.filter(({ path }) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`));
    return [`## ${name}`, '', ...TABLE, ...rows.map(rowOf), ''].join('\n');
  });
  await expect(`${HEAD}\n${groups.join('\n')}`).toMatchFileSnapshot('../../../docs/reference/config.md');
});

test('every key says what it means and has an example', () => {
  expect(keys.filter(({ meaning, example }) => meaning === '' || example === '').map(({ path }) => path)).toEqual([]);
});

test('the example of every key of the schema is accepted', () => {
  const refused = Object.entries(configSchema.shape).flatMap(([name, schema]) => examplesIn(schema as z.ZodType, name));
  expect(refused).toEqual([]);
});

/** Parses each example by the schema of its own key. */
function examplesIn(schema: z.ZodType, path: string): string[] {
  const definition = schema._zod.def as unknown as { [key: string]: unknown };
  const example = z.globalRegistry.get(schema)?.example;
  const own =
    typeof example === 'string' ? schema.safeParse(parse(example.replaceAll('…', '0'.repeat(48)))) : undefined;
  const problem = own === undefined || own.success ? [] : [`${path}: ${example}: ${own.error.issues[0]?.message}`];
  const inside = [
    ...['innerType', 'in', 'out', 'element', 'valueType'].map((key) => [path, definition[key]] as const),
    ...Object.entries((definition.shape ?? {}) as object).map(([key, value]) => [`${path}.${key}`, value] as const),
    ...((definition.options ?? []) as unknown[]).map((option) => [path, option] as const),
  ];
  return [
    ...problem,
    ...inside.flatMap(([where, value]) => (value instanceof z.ZodType ? examplesIn(value, where) : [])),
  ];
}

const TABLE = ['| key | type | default | meaning | example |', '|---|---|---|---|---|'];

function rowOf({ path, type, default: value, meaning, example }: ConfigKey): string {
  const cells = [`\`${path}\``, type, value, meaning, `\`${example}\``];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

const HEAD = `# Configuration keys

<!-- Generated from the schema in src/config/schema. Renew: npx vitest run src/config/schema -u -->

Every key of a configuration file, with its type, default and an example. [The guide](../guides/configuration.md) says where files are
found and when they are trusted; \`codemode config explain\` shows the values that are in force and where each comes from.

- \`NAME\` stands for a name that you choose, \`[]\` for each entry of a list.
- A duration is \`500ms\`, \`30s\`, \`2m\`, \`1.5h\`, \`7d\`, or a number of milliseconds.
- A size is \`64KB\`, \`128MB\`, \`1GB\` (powers of 1024), or a number of bytes.
- A rate is \`10/s\`, \`100/m\`, \`1000/h\` or \`5/d\`.
- \`\${NAME}\` in a text is replaced by an environment variable, \`\${NAME:-default}\` has a default.
- An unknown key is an error: inside one server it disables that server, elsewhere it stops the program.
`;
