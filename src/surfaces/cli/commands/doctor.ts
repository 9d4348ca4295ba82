import type { Finding } from '../../../host/inspection.js';
import { inspectMachine } from '../../../host/inspection.js';
import type { Register } from '../command.js';
import type { Composed } from '../composed.js';
import { plain, printableJson, styled } from '../terminal.js';

const MARKS: Readonly<Record<Finding['state'], string>> = { ok: 'ok', warning: 'warn', missing: 'fail' };
const STYLES = { ok: 'green', warning: 'yellow', missing: 'red' } as const;

export const register: Register = (program, context) => {
  program
    .command('doctor')
    .description('check this machine: runtimes, jail, limits; says what is missing and what to type')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => {
      context.exitWith(await doctor(options, () => context.compose()));
    });
};

/** What this machine gives, and what to type for more. Status 0 when programs can run here. */
async function doctor(flags: { readonly json?: boolean }, compose: () => Promise<Composed>): Promise<number> {
  const findings = await inspectMachine(async () => (await compose()).host);
  const canRun = findings.every((finding) => finding.state !== 'missing');
  if (flags.json === true) {
    process.stdout.write(`${printableJson({ ok: canRun, findings }, true)}\n`);
    return canRun ? 0 : 1;
  }
  for (const { state, name, message, fix } of findings) {
    process.stdout.write(
      `${styled(STYLES[state], MARKS[state].padEnd(4))}  ${styled('bold', name)}: ${plain(message)}\n`,
    );
    if (fix !== undefined) process.stdout.write(`${plain(fix).replace(/^/gm, '        ')}\n`);
  }
  return canRun ? 0 : 1;
}
