import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { everyday, type Home, openHome, openStdio, ready, run, runProgram } from '../support/program.js';

const mcpServers = { everyday: everyday() };
const WEATHER = `import { echo } from '@codemode/servers/everyday';
  globalThis.__codemode_result__ = await echo({ message: JSON.stringify({ city: 'Canary Wharf', temperature: 3 }) });`;
const OBSERVED = 'Promise</** JSON text of: { city: string; temperature: number } */ string>';

async function learn(home: Home): Promise<void> {
  await using program = await openStdio(home);
  await ready(program.client, 'everyday');
  await run(program.client, WEATHER);
}

function stateOf({ state }: Home): string {
  const files = readdirSync(state, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((file) => readFileSync(join(file.parentPath, file.name), 'utf8')).join('\n');
}

test('what a tool returned is in what the agent reads at the next start, marked as observed; values are nowhere', async () => {
  using home = openHome({ mcpServers });
  await learn(home);
  await using program = await openStdio(home);
  const { contents } = await program.client.readResource({ uri: 'codemode://servers/everyday/types.d.ts' });
  const { stdout: types } = await runProgram(home, 'types', 'everyday');
  for (const text of [program.client.getInstructions(), (contents[0] as { text: string }).text, types]) {
    expect(text).toContain(OBSERVED);
    expect(text).toContain('Observed, not declared');
    expect(text).not.toContain('Canary Wharf');
  }
  expect(stateOf(home)).toContain('temperature');
  expect(stateOf(home)).not.toContain('Canary');
});

test('learnTypes: false learns nothing and writes nothing', async () => {
  using home = openHome({ mcpServers, learnTypes: false });
  await learn(home);
  await using program = await openStdio(home);
  expect(program.client.getInstructions()).toContain('function echo(');
  expect(program.client.getInstructions()).not.toContain(OBSERVED);
  expect(stateOf(home)).not.toContain('temperature');
});
