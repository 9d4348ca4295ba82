import { EXIT, type Register } from '../command.js';

export const register: Register = (program, context) => {
  program
    .command('token')
    .description('print the access token of `codemode serve`; keep it to yourself')
    .addHelpText('after', '\nExit status: 0 it was printed, 70 it could not be read or made.\n')
    .action(async () => {
      process.stdout.write(`${await context.accessToken()}\n`);
      context.exitWith(EXIT.ok);
    });
};
