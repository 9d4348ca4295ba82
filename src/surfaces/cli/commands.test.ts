import { expect, test } from 'vitest';
import { register as run } from './commands/run.js';
import { allCommands, commandsFor } from './commands.js';

const RUN_ALONE = [
  ['run', 'program.ts'],
  ['--config', 'mcp', 'run', 'program.ts'],
  ['--config=mcp', '--isolation', 'strict', 'run'],
];

test.each(RUN_ALONE.map((words) => [words.join(' '), words] as const))('%s loads one command', async (_, words) => {
  expect(await commandsFor(words)).toEqual([run]);
});

test.each(['', '--help', 'rnu', 'help run', 'completion bash', '--unknown run'])(
  '"%s" loads every command',
  async (line) => {
    expect(await commandsFor(line.split(' '))).toEqual(await allCommands());
  },
);

test('--version loads none', async () => {
  expect(await commandsFor(['--version'])).toEqual([]);
});
