import { EXIT, type Register } from '../command.js';

export const register: Register = (program, context) => {
  program
    .command('token')
    .description('print the access token of `codemode serve`; keep it to yourself')
    .action(async () => {
      process.stdout.write(`${await context.accessToken()}\n`);
      context.exitWith(EXIT.ok);
    });
};
