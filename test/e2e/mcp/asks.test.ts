import { describe, expect, test } from 'vitest';
import { startCodemode } from '../../support/codemode-client.js';

const tool = (name: string, more: object = {}) => ({
  name,
  description: `About ${name}.`,
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  ...more,
});
const scripts = {
  files: {
    tools: [tool('read_file', { annotations: { readOnlyHint: true } }), tool('delete_file'), tool('copy_file')],
  },
};
const COPY_ASKS = { policy: { rules: [{ tools: 'files/copy_file', arguments: { path: '/etc' }, decision: 'ask' }] } };
const ALL_ALLOWED = { policy: { rules: [{ tools: 'files/*', decision: 'allow' }] } };

/** What `listTools`, the declarations and the prompt say of the tools. */
async function marksOf(config: Readonly<Record<string, unknown>>) {
  await using codemode = await startCodemode({ scripts, config });
  const asking = await codemode.value(`import { listTools } from '@codemode/discovery';
    globalThis.__codemode_result__ = (await listTools('files')).filter((tool) => tool.asks === true).map((tool) => tool.toolName);`);
  const types = (await codemode.value(`import { getTypes } from '@codemode/discovery';
    globalThis.__codemode_result__ = await getTypes('files');`)) as string;
  const { tools } = await codemode.client.listTools();
  return { asking, types, description: tools[0]?.description ?? '' };
}

/** The functions of declarations whose comment has the mark. */
function markedIn(types: string): string[] {
  return [...types.matchAll(/\/\*\*(?:(?!\*\/)[\s\S])*@asks(?:(?!\*\/)[\s\S])*\*\/\s*export function (\w+)/g)].map(
    ([, name]) => name ?? '',
  );
}

describe('a tool whose calls wait for a person', () => {
  test('is marked in listings, declarations and the index', async () => {
    const { asking, types, description } = await marksOf({});
    expect(asking).toEqual(['delete_file']);
    expect(markedIn(types)).toEqual(['delete_file']);
    expect(description).toMatch(/delete_file(\([^)]*\))? @asks/);
    expect(description).not.toMatch(/(read|copy)_file(\([^)]*\))? @asks/);
    expect(description).toContain('`@asks`');
  });

  test('is marked by the policy, also where only some arguments ask', async () => {
    expect((await marksOf(COPY_ASKS)).asking).toEqual(['delete_file', 'copy_file']);
    const allowed = await marksOf(ALL_ALLOWED);
    expect([allowed.asking, markedIn(allowed.types)]).toEqual([[], []]);
    expect(allowed.description).not.toContain('delete_file @asks');
  });

  test.each(['code_execution', 'unified', 'runner'])('is marked in what agents of profile %s read', async (profile) => {
    await using codemode = await startCodemode({ scripts, commandLine: ['--profile', profile] });
    const { tools } = await codemode.client.listTools();
    const read = [codemode.client.getInstructions() ?? '', ...tools.map((each) => each.description ?? '')].join('\n');
    expect(read).toMatch(/delete_?file(\|\w+)?(\([^)]*\))? @asks/i);
    expect(read).toContain('`@asks`');
  });
});

test('callers under different rules see different marks', async () => {
  // Rules can be for one profile: the same servers, another reader.
  const rules = [{ tools: 'files/read_file', profile: 'codemode', decision: 'ask' }];
  expect((await marksOf({ policy: { rules } })).asking).toEqual(['read_file', 'delete_file']);
  expect((await marksOf({ policy: { rules: [{ ...rules[0], profile: 'runner' }] } })).asking).toEqual(['delete_file']);
});
