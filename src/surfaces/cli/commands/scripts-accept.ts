import type { Command } from 'commander';
import { changedPins, renewedPins } from '../../../host/scripts/script-pins.js';
import { type CommandContext, EXIT, withRecords } from '../command.js';
import { waitFor } from '../terminal/progress.js';
import { plainLine } from '../terminal/terminal.js';

/** `scripts accept`: accepts the current versions of the tools that a script calls. */
export function registerAccept(scripts: Command, context: CommandContext): void {
  scripts
    .command('accept')
    .argument('<name>')
    .description('pin a script to the tools that it calls as they are now')
    .addHelpText('after', '\nExit status: 0, 2 no such script; see codemode scripts --help.\n')
    .action(async (name: string) => {
      context.exitWith(await accept(context, name));
    });
}

async function accept(context: CommandContext, name: string): Promise<number> {
  const script = await withRecords(context, (records) => records.scripts.get(name));
  const { host } = await context.compose();
  await using _ = host;
  await waitFor('asking the servers', () => host.refresh());
  const snapshot = host.snapshot();
  const changes = changedPins(script, snapshot);
  if (changes.length === 0) {
    process.stdout.write(`nothing has changed for ${name}\n`);
    return EXIT.ok;
  }
  const { digest: _digest, createdAtMs: _at, version: _version, ...kept } = script;
  const isThere = (pin: { readonly server: string; readonly tool: string }) =>
    !changes.some(({ tool, change }) => change === 'gone' && tool === `${pin.server}/${pin.tool}`);
  const pins = renewedPins(script, snapshot).filter(isThere);
  const { script: stored } = await host.scripts.add({ ...kept, pins }, { replaces: true });
  const lines = changes.map(({ tool, change }) => `  ${plainLine(tool)}: ${change}`);
  process.stdout.write(`accepted: ${name} (version ${stored.version})\n${lines.join('\n')}\n`);
  return EXIT.ok;
}
