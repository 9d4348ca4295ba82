import type { Target } from '../../../config/clients/target.js';
import { SecretMask } from '../../../lib/secrets/mask.js';
import { secretsIn } from '../../../lib/secrets/secret-values.js';
import { unifiedDiff } from '../../../lib/text/line-diff.js';
import { plain, styled } from '../terminal/terminal.js';

/** Prints what a command would change in a client's file. Values of tokens and keys are not shown. */
export function printDiff({ file }: Target, after: string): void {
  const mask = new SecretMask([...namedSecrets(file.text ?? ''), ...namedSecrets(after)]);
  for (const line of mask
    .apply(unifiedDiff(withoutReturns(file.text ?? ''), withoutReturns(after), file.path))
    .split('\n')
    .slice(0, -1)) {
    const shown = plain(line);
    const isMark = line.startsWith('---') || line.startsWith('+++');
    const style = isMark ? 'bold' : line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : undefined;
    process.stdout.write(`${style === undefined ? shown : styled(style, shown)}\n`);
  }
}

const NAMED_VALUE = /["']?([\w.-]+)["']?\s*[:=]\s*"((?:[^"\\\n]|\\.)*)"/g;

/** Values in JSON or TOML that look secret by their name or format. */
function namedSecrets(text: string): string[] {
  return [...text.matchAll(NAMED_VALUE)].flatMap(([, name = '', value = '']) => secretsIn(name, value));
}

/** Lines that end as on Windows: they are kept when the file is written, and the end would be shown as a control character. */
function withoutReturns(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
