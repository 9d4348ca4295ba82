import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { allCommands } from './commands.js';
import { createProgram } from './program.js';
import { NOTHING_COMPOSED } from './reference.test-support.js';

test('docs/reference/cli.md matches --help (renew: npx vitest run src/surfaces/cli -u)', async () => {
  const program = createProgram(await allCommands(), NOTHING_COMPOSED, () => {});
  const sections = commandsOf(program).map(
    (command) => `## ${nameOf(command)}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`,
  );
  await expect(`${HEAD}\n${sections.join('\n')}`).toMatchFileSnapshot('../../../docs/reference/cli.md');
});

test('every command says what it does, what its options mean, and what its exit status is', async () => {
  const silent = commandsOf(createProgram(await allCommands(), NOTHING_COMPOSED, () => {})).filter(
    (command) =>
      command.description() === '' ||
      command.options.some(({ description }) => description === '') ||
      (command.commands.length === 0 && !helpOf(command).includes('Exit status')),
  );
  expect(silent.map(nameOf)).toEqual([]);
});

const HEAD = `# The command line

<!-- Made from the program's own help. Renew: npx vitest run src/surfaces/cli -u -->

\`codemode\` is \`npx codemode\` where it is installed, and \`node dist/bin.js\` in a clone. Options of the program itself
may come before or after the command.
`;

function commandsOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(commandsOf)];
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

function helpOf(command: Command): string {
  let text = '';
  const keep = (more: string) => {
    text += more;
  };
  command.configureOutput({ writeOut: keep, writeErr: keep, getOutHelpWidth: () => 100, getErrHelpWidth: () => 100 });
  command.outputHelp();
  return text.trim();
}
