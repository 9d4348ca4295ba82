import type { Target } from '../../config/clients/target.js';
import { unifiedDiff } from '../../lib/line-diff.js';
import { plain, styled } from './terminal.js';

/** What a command would do to a client's file, for people. */
export function printDiff({ file }: Target, after: string): void {
  for (const line of unifiedDiff(file.text ?? '', after, file.path)
    .split('\n')
    .slice(0, -1)) {
    const shown = plain(line);
    const isMark = line.startsWith('---') || line.startsWith('+++');
    const style = isMark ? 'bold' : line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : undefined;
    process.stdout.write(`${style === undefined ? shown : styled(style, shown)}\n`);
  }
}
