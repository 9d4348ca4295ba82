// @ts-check
import { parseArgs } from 'node:util';

/** @typedef {{ readonly name: string, readonly measures: string }} Group */

/**
 * The help text of a bench.
 *
 * @param {string} command
 * @param {readonly Group[]} groups
 * @param {readonly string[]} [more] lines of options that it has besides the common ones
 */
export function helpOf(command, groups, more = []) {
  return [
    `Usage: npm run ${command} -- [options] [GROUP...]`,
    '',
    '  --only NAME   the same as GROUP: one group of rows; may be given several times',
    '  --quick       a tenth of the samples: to see that it works, not to quote',
    '  --json FILE   writes the same figures as JSON',
    ...more,
    '  --help        this text',
    '',
    'Groups:',
    ...groups.map(({ name, measures }) => `  ${name.padEnd(12)}  ${measures}`),
  ].join('\n');
}

/**
 * @param {readonly string[]} argv
 * @param {readonly Group[]} groups
 * @param {Record<string, { type: 'string' | 'boolean' }>} [more]
 * @returns {{ only: string[], quick: boolean, json: string | undefined, help: boolean, error?: string, [own: string]: any }}
 */
export function readOptions(argv, groups, more = {}) {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        only: { type: 'string', multiple: true, default: [] },
        quick: { type: 'boolean', default: false },
        json: { type: 'string' },
        help: { type: 'boolean', default: false },
        ...more,
      },
    });
    const only = [...values.only, ...positionals];
    const unknown = only.find((name) => !groups.some((group) => group.name === name));
    return { ...values, only, json: values.json, ...(unknown && { error: `there is no group "${unknown}"` }) };
  } catch (error) {
    return { only: [], quick: false, json: undefined, help: false, error: error.message };
  }
}
