import { type CommandContext, EXIT, type Register } from '../command.js';
import { bashCompletion } from '../completion/bash.js';
import { commandTable, LOOKED_UP, type LookedUp } from '../completion/command-table.js';
import { fishCompletion } from '../completion/fish.js';
import { zshCompletion } from '../completion/zsh.js';
import { oneOf } from '../options.js';
import { LAST } from '../runs/resolve-id.js';

const SHELLS = [
  { name: 'bash', render: bashCompletion, place: 'source <(codemode completion bash)', file: '~/.bashrc' },
  { name: 'zsh', render: zshCompletion, place: 'source <(codemode completion zsh)', file: '~/.zshrc, after compinit' },
  {
    name: 'fish',
    render: fishCompletion,
    place: 'codemode completion fish > ~/.config/fish/completions/codemode.fish',
    file: 'a shell, once',
  },
] as const;

export const register: Register = (program, context) => {
  const completion = program
    .command('completion')
    .description('print a script that completes commands, options, servers, runs and scripts in your shell')
    .addHelpText('after', HELP);
  for (const { name, render, place, file } of SHELLS)
    completion
      .command(name)
      .description(`the script for ${name}`)
      .addHelpText('after', `\nIn ${file}:\n  ${place}\n${STATUS}`)
      .action(() => {
        process.stdout.write(render(commandTable(program)));
        context.exitWith(EXIT.ok);
      });
  completion
    .command('values')
    .argument('<kind>', LOOKED_UP.join(', '))
    .description('print what there is of a kind, a line each; the scripts call it. Reads files and starts no server')
    .addHelpText('after', STATUS)
    .action(async (kind: string) => {
      const values = await valuesOf(oneOf('kind', kind, LOOKED_UP), context);
      process.stdout.write(values.map((value) => `${value}\n`).join(''));
      context.exitWith(EXIT.ok);
    });
};

const HELP = `
Load it with one line:
${SHELLS.map(({ name, place, file }) => `  ${name.padEnd(4)}  in ${file}: ${place}`).join('\n')}

Exit status: 0, 2 bad input.
`;

const STATUS = '\nExit status: 0, 2 bad input.\n';

/**
 * Names reach a shell and a terminal, and some come from a project's file. Only plain words are offered: no space, quote, dollar
 * sign or control character gets through.
 */
const PLAIN_WORD = /^[A-Za-z0-9][A-Za-z0-9_.@:/-]{0,127}$/;

async function valuesOf(kind: LookedUp, context: CommandContext): Promise<string[]> {
  return (await namesOf(kind, context)).filter((name) => PLAIN_WORD.test(name));
}

async function namesOf(kind: LookedUp, context: CommandContext): Promise<readonly string[]> {
  switch (kind) {
    case 'servers': {
      // An unusable configuration has no servers to offer. Other commands say why.
      const loaded = await context.config().catch(() => undefined);
      return Object.keys(loaded?.config.mcpServers ?? {});
    }
    case 'runs': {
      const { runIds } = await context.stateSummary();
      return runIds.length === 0 ? [] : [LAST, ...runIds];
    }
    case 'approvals':
      return (await context.stateSummary()).approvalIds;
    case 'scripts':
      return (await context.stateSummary()).scriptNames;
  }
}
