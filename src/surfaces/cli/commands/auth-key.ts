import type { Command } from 'commander';
import type { KeyPlace } from '../../../domain/key.js';
import { type CommandContext, EXIT } from '../command.js';

/** `codemode auth key`: shows where the key is that seals logins and suspended runs, and moves it. */
export function registerKey(auth: Command, context: CommandContext): void {
  const key = auth
    .command('key')
    .description('show where the key for logins, suspended runs and the audit log is kept; never the key itself')
    .addHelpText('after', HELP)
    .action(async () => {
      const place = await (await context.key()).check();
      process.stdout.write(`${place === undefined ? 'there is no key yet' : `the key is in ${PLACES[place]}`}\n`);
      context.exitWith(EXIT.ok);
    });
  key
    .command('move-to-keyring')
    .description("put the key into the desktop's keyring, in place of the file")
    .addHelpText('after', MOVE_HELP)
    .action(async () => {
      say('keyring', await (await context.key()).moveToKeyring());
      context.exitWith(EXIT.ok);
    });
  key
    .command('move-to-file')
    .description('put the key into an owner-only file of the state folder; the keyring keeps its copy')
    .addHelpText('after', MOVE_HELP)
    .action(async () => {
      say('file', await (await context.key()).moveToFile());
      context.exitWith(EXIT.ok);
    });
}

const PLACES: Readonly<Record<KeyPlace, string>> = {
  file: 'a file of the state folder, owner-only',
  keyring: 'the keyring of this session',
};

const HELP = `
security.keyring says where a new key goes: auto (the keyring where one is unlocked, else a file), file, or required. A key
that is there stays where it is until it is moved.

Exit status: 0 it is available or there is none yet, 2 it is unavailable.
`;

const MOVE_HELP = `
It stays the same key: nothing that was sealed is lost, and running hosts continue. If anything goes wrong, it stays
where it was.

Exit status: 0 it is there now, 2 it stays where it was.
`;

function say(place: KeyPlace, before: KeyPlace | undefined): void {
  const how = before === undefined ? 'made, and is in' : before === place ? 'already in' : 'now in';
  process.stdout.write(`the key is ${how} ${PLACES[place]}\n`);
}
