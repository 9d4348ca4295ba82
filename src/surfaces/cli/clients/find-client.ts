import { CLIENTS, type Client } from '../../../config/clients/registry.js';
import { HostError } from '../../../domain/errors.js';
import { nearest } from '../../../lib/text/nearest.js';

/** Other names that people use for the same clients. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  claude: 'claude-code',
  code: 'vscode',
  'vs-code': 'vscode',
  'gemini-cli': 'gemini',
};

/** The client with this name. Throws `bad_input` with the nearest name and the list of all names. */
export function findClient(name: string): Client {
  const wanted = OTHER_WORDS[name.toLowerCase()] ?? name.toLowerCase();
  const found = CLIENTS.find(({ id }) => id === wanted);
  if (found !== undefined) return found;
  const ids = CLIENTS.map(({ id }) => id);
  const [close] = nearest(name, ids, 1);
  throw new HostError(
    'bad_input',
    `there is no client ${JSON.stringify(name)}${close === undefined ? '.' : `; did you mean ${close}?`} Clients: ${ids.join(', ')}`,
  );
}
