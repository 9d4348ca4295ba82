import { needsOf } from '../../../domain/profile-name.js';
import type { ProposedInput, ScriptOfRun } from '../../../host/scripts/script-from-run.js';
import type { ReplacedLiteral } from '../../../host/scripts/script-inputs.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { type CommandContext, EXIT, withRecords } from '../command.js';
import { checkSyntax } from '../runs/check-syntax.js';
import { runIdOf } from '../runs/run-id.js';
import { plain, plainLine, printableJson } from '../terminal/terminal.js';

export interface FromRunFlags {
  readonly input: readonly string[];
  readonly description?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly replace?: boolean;
  readonly check: boolean;
}

/** `scripts add --from-run`: keeps a run that succeeded as a script. */
export async function addFromRun(
  context: CommandContext,
  { name, run }: { readonly name: string; readonly run: string },
  flags: FromRunFlags,
): Promise<number> {
  const made = await withRecords(context, async ({ suspended, scripts }) => {
    const [{ scriptFromRun }, { readChosenInput }] = await Promise.all([
      import('../../../host/scripts/script-from-run.js'),
      import('../../../host/scripts/script-inputs.js'),
    ]);
    const runId = await runIdOf(suspended, run);
    const { profile } = await suspended.show(runId);
    const recording = await suspended.recordingOf(runId);
    const source = 'journal' in recording ? recording.journal.source : '';
    const inputs = flags.input.map((text) => readChosenInput(text, source));
    const description = flags.description ?? (flags.replace === true ? await scripts.descriptionOf(name) : '');
    return scriptFromRun(recording, profile, { name, description, inputs });
  });
  const { script } = made;
  // An unchanged program has already run. Classic scripts are parsed by the contract that runs them.
  if (made.replaced.length > 0 && flags.check && needsOf(script.profile).program === 'module')
    await checkSyntax(context, script.source, script.language);
  const version = flags.dryRun === true ? undefined : await store(context, made, flags.replace === true);
  process.stdout.write(flags.json === true ? `${printableJson(jsonOf(made, version), true)}\n` : textOf(made, version));
  return EXIT.ok;
}

function store(context: CommandContext, { script }: ScriptOfRun, replaces: boolean): Promise<number> {
  return withRecords(context, async ({ scripts }) => (await scripts.add(script, { replaces })).script.version);
}

function jsonOf({ script, replaced, proposed }: ScriptOfRun, version: number | undefined) {
  return { stored: version !== undefined, ...omitUndefined({ version }), script, replaced, proposed };
}

function textOf({ script, replaced, proposed }: ScriptOfRun, version: number | undefined): string {
  const { name, fromRun, pins = [] } = script;
  const head = version === undefined ? `would be stored: ${name}` : `stored: ${name} (version ${version})`;
  const tools = pins.map(({ server, tool }) => plainLine(`${server}/${tool}`));
  const lines = [
    `${head}, from run ${fromRun ?? ''}`,
    ...replaced.map(inputLine),
    ...(tools.length === 0 ? [] : [`  calls ${tools.join(', ')}`]),
    ...(proposed.length === 0 ? [] : ['  these values were sent to tools, and may be inputs too:']),
    ...proposed.map(proposalLine),
    ...(version === undefined ? ['', plain(script.source)] : []),
  ];
  return `${lines.join('\n')}\n`;
}

function inputLine({ name, value, lines }: ReplacedLiteral): string {
  return `  input ${name} in place of ${plainLine(JSON.stringify(value))}, line ${lines.join(', ')}`;
}

function proposalLine({ name, value, line }: ProposedInput): string {
  const written = plainLine(`${name}=${value}`);
  const quoted = /^[\w.=:/@+-]+$/.test(written) ? written : `'${written.replaceAll("'", `'\\''`)}'`;
  return `    --input ${quoted}  (line ${line})`;
}
