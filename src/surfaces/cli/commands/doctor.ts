import type { LoadedConfig } from '../../../config/load.js';
import { codeModeOf } from '../../../config/schema/code-mode.js';
import { isHostError } from '../../../domain/errors.js';
import { needsOf } from '../../../domain/profile-name.js';
import type { Finding } from '../../../host/admin/inspection.js';
import { inspectMachine, inspectRun } from '../../../host/admin/inspection.js';
import { goFinding, interpreterFinding } from '../../../host/processes/interpreters.js';
import { promptTexts } from '../../../profiles/prompt-texts.js';
import { createProfile } from '../../../profiles/registry.js';
import type { CommandContext, Register } from '../command.js';
import type { Composed } from '../composed.js';
import { codeModeFindings } from '../findings/code-mode-finding.js';
import { databaseFindings } from '../findings/database-findings.js';
import { configFindings, keyFinding, serverFindings } from '../findings/findings.js';
import { asking, waitFor } from '../terminal/progress.js';
import { plainBlock, plainLine, printableJson, styled } from '../terminal/terminal.js';
import { wrapLines } from '../terminal/wrap.js';

export const register: Register = (program, context) => {
  program
    .command('doctor')
    .description('check machine, jail, limits, configuration and servers; report what is missing and what to type')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (flags: { json?: boolean }) => {
      context.exitWith(await doctor(flags.json === true, context));
    });
};

const HELP = `
Really connects every server, and really runs a program in the jail.
--json prints { "ok", "findings": [{ "name", "state", "message", "fix" }] }; "state" is ok, warning or missing.

Exit status: 0 nothing is missing, 1 something is.
`;

const MARKS: Readonly<Record<Finding['state'], string>> = { ok: 'ok', warning: 'warn', missing: 'fail' };
const STYLES = { ok: 'green', warning: 'yellow', missing: 'red' } as const;

async function doctor(isJson: boolean, context: CommandContext): Promise<number> {
  const findings: Finding[] = [];
  const found = (more: readonly Finding[]) => {
    findings.push(...more);
    if (!isJson) for (const finding of more) process.stdout.write(render(finding));
  };
  found(await waitFor('checking this machine', () => inspectMachine()));
  const loaded = await loadedOrFinding(context);
  if ('finding' in loaded) {
    found([loaded.finding]);
  } else {
    found(await configFindings(loaded));
    found(
      loaded.config.store === undefined ? [await keyFinding(await context.key())] : await databaseFindings(context),
    );
    const { runtimes } = await context.machine({ ...loaded.config, profile: 'runner' });
    found(runtimes.map(interpreterFinding));
    const { go } = await context.machine({ ...loaded.config, profile: 'go' });
    if (go !== undefined) found([goFinding(go, needsOf(loaded.config.profile).runtime === 'go')]);
    await inspectUse(loaded, context, found);
  }
  const isOk = findings.every(({ state }) => state !== 'missing');
  if (isJson) process.stdout.write(`${printableJson({ ok: isOk, findings }, true)}\n`);
  return isOk ? 0 : 1;
}

async function loadedOrFinding(context: CommandContext): Promise<LoadedConfig | { readonly finding: Finding }> {
  try {
    return await context.config();
  } catch (error) {
    if (!isHostError(error, 'bad_config') && !isHostError(error, 'untrusted_config')) throw error;
    const fix =
      error.code === 'untrusted_config'
        ? 'codemode trust'
        : 'correct it, then look at the result: codemode config explain';
    return { finding: { name: 'Configuration', state: 'missing', message: error.message, fix } };
  }
}

/** Servers first: a run waits for servers that were never asked. Without a jail, servers can still be inspected. */
async function inspectUse(
  loaded: LoadedConfig,
  context: CommandContext,
  found: (more: readonly Finding[]) => void,
): Promise<void> {
  let composed: Composed | undefined;
  const open = async () => {
    composed ??= await context.compose();
    return composed;
  };
  const inventory = await open().then(
    (each) => each.inventory,
    async () => (await context.inventory()).inventory,
  );
  try {
    await waitFor('connecting servers', (say) => inventory.ask('all', { onProgress: asking(say) }));
    found(serverFindings(inventory.servers(), loaded));
    const codeMode = codeModeOf(loaded.config);
    const view = inventory.view(undefined, codeMode);
    const profile = createProfile(loaded.config, await context.machine(loaded.config));
    found(codeModeFindings(view, promptTexts(profile, view, []), codeMode.enabled));
    // A missing type checker is not an error.
    const types = await open().then(
      ({ host }) => host.typeChecking(),
      () => undefined,
    );
    if (types !== undefined) found([{ name: 'Types', state: 'ok', message: types }]);
    found([await inspectRun(async () => (await open()).host)]);
  } finally {
    await Promise.all([composed?.host.close(), inventory.close()]);
  }
}

function render({ state, name, message, fix }: Finding): string {
  const text = `${styled(STYLES[state], MARKS[state].padEnd(4))}  ${styled('bold', plainLine(name))}: ${plainLine(message)}`;
  const line = `${wrapLines(text)}\n`;
  return fix === undefined ? line : `${line}${plainBlock(fix, '        ')}\n`;
}
