import { ownCommand } from '../../../config/own-command.js';
import { readEnvironment } from '../../../config/variables/environment.js';

/** The next step for a user who has seen codemode work. */
export function connectAClient(): string {
  const { shell } = ownCommand(readEnvironment(), process.cwd());
  return `1. import the servers of your clients:  ${shell} init
2. see whether they answer:             ${shell} servers
3. add codemode to your client:         ${shell} install

   install lists the clients of this machine; ${shell} install cursor, for example, adds codemode to Cursor.
`;
}
