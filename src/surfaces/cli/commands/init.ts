import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { clientFiles, discoverServers, readClientFile } from '../../../config/discover.js';
import { readEnvironment } from '../../../config/environment.js';
import { type ImportPlan, planImport } from '../../../config/plan-import.js';
import { renderConfig } from '../../../config/write.js';
import { HostError } from '../../../domain/errors.js';
import { writeWhole } from '../../../lib/write-whole.js';
import { EXIT, type Register } from '../command.js';
import { plain, printableJson, styled } from '../terminal.js';

interface InitFlags {
  readonly yes?: boolean;
  readonly output: string;
  readonly from?: string[];
  readonly force?: boolean;
  readonly json?: boolean;
}

export const register: Register = (program, context) => {
  program
    .command('init')
    .description('write a configuration with the servers of your other clients')
    .option('--yes', 'write without asking')
    .option('--output <file>', 'the file to write; .json is understood too', 'codemode.config.yaml')
    .option('--from <file...>', 'take servers from these files instead of the usual places')
    .option('--force', 'replace the file if it exists')
    .option('--json', 'show the plan, and with --yes what was written, as JSON')
    .addHelpText('after', HELP)
    .action(async (flags: InitFlags) => {
      context.exitWith(await init(flags));
    });
};

const HELP = `
Looks for the servers of Claude Desktop, Claude Code, Cursor, VS Code, Codex and mcpproxy: in this folder, then in your
home folder. Their files are only read. The new file is readable by you alone, because servers may come with secrets.
--json prints { "servers": [{ "name", "renamedFrom", "client", "file" }], "leftOut": [{ "name", "client", "file",
"reason" }], "warnings", "variables": [{ "name", "isSet" }], "written" }; "written" is null without --yes.

Exit status: 0, 1 you said no, 2 bad input, or the file exists.

Examples:
  codemode init
  codemode init --yes --from ~/.cursor/mcp.json --output ~/.config/codemode/config.yaml
`;

async function init(flags: InitFlags): Promise<number> {
  const output = resolve(flags.output);
  await refuseUnfit(output, flags.force === true);
  const environment = readEnvironment();
  const discovered =
    flags.from === undefined
      ? await discoverServers(clientFiles(environment, process.cwd(), process.platform))
      : await Promise.all(flags.from.map((file) => readClientFile(resolve(file))));
  const plan = planImport(discovered, environment);
  const isJson = flags.json === true;
  if (!isJson) process.stdout.write(describe(plan, output));
  if (flags.yes !== true) {
    if (isJson) return printJson(plan, null);
    if (!(await isAgreed(output))) return EXIT.failed;
  }
  await write(output, renderConfig(plan, output), flags.force === true);
  if (isJson) return printJson(plan, output);
  process.stdout.write(`${nextSteps(plan, output)}\n`);
  return EXIT.ok;
}

/** Before anything is asked or written. */
async function refuseUnfit(output: string, isForced: boolean): Promise<void> {
  if (!/\.(ya?ml|json)$/.test(output))
    throw new HostError('bad_input', `${output} must end in .yaml, .yml or .json to be read as a configuration`);
  const found = await stat(output).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new HostError('bad_input', `${output} cannot be written (${error.code ?? error.message})`);
  });
  if (found === undefined) return;
  if (!found.isFile()) throw new HostError('bad_input', `${output} exists and is no ordinary file; name another`);
  if (!isForced) throw alreadyThere(output);
}

async function write(output: string, text: string, replaces: boolean): Promise<void> {
  try {
    await writeWhole(output, text, { mode: 0o600, replaces });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw alreadyThere(output);
    const why = code === 'ENOENT' ? 'its folder does not exist; make it first' : `(${code ?? message})`;
    throw new HostError('bad_input', `${output} could not be written: ${why}`, { cause: error });
  }
}

function alreadyThere(output: string): HostError {
  return new HostError('bad_input', `${output} exists already; --force replaces it, --output names another`);
}

async function isAgreed(output: string): Promise<boolean> {
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true)
    throw new HostError('bad_input', 'nothing was written: there is no terminal to ask on; add --yes to write it');
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await terminal.question(`Write ${plain(output)}? [Y/n] `);
    return /^(y|yes|)$/i.test(answer.trim());
  } catch {
    return false; // Ctrl-D, Ctrl-C
  } finally {
    terminal.close();
  }
}

function describe(plan: ImportPlan, output: string): string {
  const lines = plan.servers.length === 0 ? ['No servers were found; the new file has an example to fill in.'] : [];
  let file = '';
  for (const { name, renamedFrom, from } of plan.servers) {
    if (from.file !== file) lines.push(styled('bold', `From ${from.client}, ${plain(from.file)}`));
    file = from.file;
    lines.push(
      `  ${plain(name)}${renamedFrom === undefined ? '' : `  (called ${plain(renamedFrom)} there; that name is taken or cannot be used)`}`,
    );
  }
  if (plan.leftOut.length > 0) lines.push(styled('bold', 'Left out'));
  for (const { name, from, reason } of plan.leftOut)
    lines.push(`  ${plain(name)} of ${plain(from.file)}: ${plain(reason)}`);
  if (plan.warnings.length > 0) lines.push(styled('bold', 'Worth knowing'));
  for (const warning of plan.warnings) lines.push(`  ${plain(warning)}`);
  return `${lines.join('\n')}\n\n${styled('dim', `To be written: ${plain(output)}`)}\n`;
}

function nextSteps(plan: ImportPlan, output: string): string {
  const unset = plan.variables.filter(({ isSet }) => !isSet);
  const exports = unset.map(({ name }) => `  export ${name}=...`);
  return [
    `${styled('green', 'written')}: ${plain(output)}`,
    ...(exports.length === 0 ? [] : ['Set these first; servers refer to them:', ...exports]),
    'See whether the servers answer:  codemode servers',
    'Give them to an agent:           claude mcp add codemode -- npx codemode mcp',
  ].join('\n');
}

function printJson({ servers, leftOut, warnings, variables }: ImportPlan, written: string | null): number {
  const shown = {
    servers: servers.map(({ name, renamedFrom, from }) => ({
      name,
      ...(renamedFrom === undefined ? {} : { renamedFrom }),
      client: from.client,
      file: from.file,
    })),
    leftOut: leftOut.map(({ name, from, reason }) => ({ name, client: from.client, file: from.file, reason })),
    warnings,
    variables,
    written,
  };
  process.stdout.write(`${printableJson(shown, true)}\n`);
  return EXIT.ok;
}
