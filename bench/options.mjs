// @ts-check
import { parseArgs } from 'node:util';
import { GROUPS } from './groups.mjs';

export const HELP = `Usage: npm run bench -- [options]

  --only NAME   one group of rows; may be given several times
  --quick       a tenth of the samples: to see that it works, not to quote
  --json FILE   writes the same figures as JSON
  --peers       also measures the peers that are large to download (workerd, 150 MB)
  --help        this text

Groups:
${GROUPS.map(({ name, measures }) => `  ${name.padEnd(12)}  ${measures}`).join('\n')}`;

/**
 * @param {readonly string[]} argv
 * @returns {{ only: string[], quick: boolean, json: string | undefined, peers: boolean, help: boolean, error?: string }}
 */
export function readOptions(argv) {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        only: { type: 'string', multiple: true, default: [] },
        quick: { type: 'boolean', default: false },
        json: { type: 'string' },
        peers: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    const unknown = values.only.find((name) => !GROUPS.some((group) => group.name === name));
    return { ...values, json: values.json, ...(unknown && { error: `there is no group "${unknown}"` }) };
  } catch (error) {
    return { only: [], quick: false, json: undefined, peers: false, help: false, error: error.message };
  }
}
