import { planInstall } from '../../../config/clients/install.js';
import type { OwnStartCommand } from '../../../config/clients/own-start-command.js';
import { CLIENTS, type Client, placesOf } from '../../../config/clients/registry.js';
import { OWN_NAME, openTarget, startsUs } from '../../../config/clients/target.js';
import type { Environment } from '../../../config/variables/environment.js';
import { isHostError } from '../../../domain/errors.js';
import { EXIT } from '../command.js';
import { plainLine, printableJson, styled } from '../terminal/terminal.js';

interface ListedClient {
  readonly client: string;
  readonly title: string;
  readonly file: string;
  readonly isFound: boolean;
  /** `outdated`: our entry starts another copy of codemode or uses another configuration. `foreign`: the entry is not ours. */
  readonly state: 'installed' | 'outdated' | 'foreign' | 'absent' | 'unreadable';
  readonly problem?: string;
}

const WORDS: Readonly<Record<ListedClient['state'], string>> = {
  installed: 'has codemode',
  outdated: 'has codemode, with another command',
  foreign: 'has another program called codemode',
  absent: 'found',
  unreadable: 'its file cannot be read',
};

/** Lists the clients on this machine, and whether codemode is installed in them. */
export async function listClients(environment: Environment, start: OwnStartCommand, isJson: boolean): Promise<number> {
  const listed = await Promise.all(CLIENTS.map((client) => inspectClient(client, environment, start)));
  if (isJson) {
    process.stdout.write(`${printableJson(listed, true)}\n`);
    return EXIT.ok;
  }
  const width = Math.max(...listed.map(({ client }) => client.length));
  const lines = listed
    .filter(({ isFound }) => isFound)
    .map(({ client, state, file, problem }) => {
      const name = client.padEnd(width);
      return `${state === 'installed' ? styled('green', name) : name}  ${WORDS[state]}  ${styled('dim', plainLine(problem ?? file))}`;
    });
  const others = listed.filter(({ isFound }) => !isFound).map(({ client }) => client);
  if (lines.length === 0) lines.push('No client was found on this machine.');
  if (others.length > 0) lines.push(`Not found: ${others.join(', ')}`);
  const next = listed.find(({ isFound, state }) => isFound && state === 'absent') ?? listed[0];
  process.stdout.write(`${lines.join('\n')}\n\nTo add codemode to one: ${start.shell} install ${next?.client}\n`);
  return EXIT.ok;
}

async function inspectClient(client: Client, environment: Environment, start: OwnStartCommand): Promise<ListedClient> {
  const { id, title } = client;
  try {
    const target = await openTarget(client, environment, process.platform);
    const { file, isFound, entries } = target;
    const existing = entries.get(OWN_NAME);
    const isOurs = target.record !== undefined || startsUs(target, existing, start);
    const known = { client: id, title, file: file.path, isFound };
    if (existing === undefined) return { ...known, state: 'absent' };
    if (!isOurs) return { ...known, state: 'foreign' };
    const { state } = planInstall(target, { start, removed: [], replacesForeign: false });
    return { ...known, state: state === 'present' ? 'installed' : 'outdated' };
  } catch (error) {
    if (!isHostError(error)) throw error;
    const [file = ''] = client.files(placesOf(environment, process.platform));
    return { client: id, title, file, isFound: true, state: 'unreadable', problem: error.message };
  }
}
