import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Home, PROGRAM } from './cli.js';

const ROOT = new URL('../../', import.meta.url);
const EXAMPLES = fileURLToPath(new URL('examples', ROOT));

/** The code of a guide, in its order, by the language that stands behind the quotes. */
export function blocksOf(guide: string): { readonly language: string; readonly text: string }[] {
  const page = readFileSync(new URL(`docs/guides/${guide}.md`, ROOT), 'utf8');
  return [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({ language, text }));
}

/** Runs commands of a guide in a shell, as they are printed. Throws if one of them fails. Gives what they print. */
export function shell(home: Home, commands: string): string {
  const codemode = home.write('bin/codemode', `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`, 0o755);
  const { status, stdout, stderr } = spawnSync('sh', ['-ec', commands], {
    cwd: home.folder,
    encoding: 'utf8',
    env: {
      PATH: `${dirname(codemode)}:${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
      HOME: home.folder,
      CODEMODE_KEYRING: 'file',
      EXAMPLES,
    },
  });
  if (status !== 0) throw new Error(`${commands}\nended with ${status}: ${stderr}${stdout}`);
  return stdout;
}
