import { explainConfig } from '../../../config/explain.js';
import { renderPath } from '../../../config/files/path.js';
import type { LoadedConfig } from '../../../config/load.js';
import type { ServerReport } from '../../../host/tools/inventory.js';
import { shellWord } from '../../../lib/text/shell-word.js';
import { ownShellCommand } from '../trust/file-notes.js';

type AdvisedServer = Pick<ServerReport, 'id' | 'needsLogin' | 'reason'>;

/** What to type if a server does not answer. Built from the masked configuration, so it shows no secret. */
export function adviceFor({ id, needsLogin, reason = '' }: AdvisedServer, loaded: LoadedConfig): string {
  const disabled = loaded.disabledServers.find((each) => each.id === id);
  if (disabled !== undefined) return `correct ${disabled.place}, then look again: ${ownShellCommand()} servers`;
  if (needsLogin && !hasOwnToken(id, loaded)) return `${ownShellCommand()} auth login ${shellWord(id)}`;
  const values = new Map(explainConfig(loaded).map(({ key, value }) => [key, JSON.parse(value) as unknown]));
  const setting = (name: string) => values.get(renderPath(['mcpServers', id, name]));
  const where = `${renderPath(['mcpServers', id])}${loaded.file === undefined ? '' : ` in ${loaded.file}`}`;
  const {
    command,
    args = [],
    cwd,
    url,
  } = { command: setting('command'), args: setting('args'), cwd: setting('cwd'), url: setting('url') };
  // It did not start at all: the reason already says what to do.
  if (/(?:^|: )(?:command not found: |its folder )/.test(reason)) return `correct ${where}`;
  if (typeof command === 'string') {
    const words = [command, ...(Array.isArray(args) ? args.map(String) : [])].map(shellWord).join(' ');
    const line = typeof cwd === 'string' ? `cd ${shellWord(cwd)} && ${words}` : words;
    return `start it by hand and see what it says, then correct ${where}:\n  ${line}`;
  }
  return `see what answers there, then correct url or headers of ${where}:\n  curl -sS -i ${shellWord(String(url))}`;
}

/** A token set by hand is corrected by hand. */
function hasOwnToken(id: string, { config }: LoadedConfig): boolean {
  const { headers = {}, auth } = config.mcpServers[id] ?? {};
  return auth?.type === 'bearer' || Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}
