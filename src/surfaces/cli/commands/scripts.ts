import { HostError } from '../../../domain/errors.js';
import type { JsonValue } from '../../../domain/json.js';
import { needsOf } from '../../../domain/profile-name.js';
import { SCRIPT_PROFILES, type ScriptHead, type StoredScript } from '../../../domain/script.js';
import { checkName, readInputSchema } from '../../../host/scripts/stored-scripts.js';
import { ifDefined, omitUndefined } from '../../../lib/omit-undefined.js';
import { type CommandContext, EXIT, type Register, withRecords } from '../command.js';
import { openCommandSession } from '../command-session.js';
import { countFrom1, oneOf } from '../options.js';
import { checkSyntax } from '../runs/check-syntax.js';
import { readSource } from '../runs/read-source.js';
import { RUN_ARGUMENT } from '../runs/run-id.js';
import { interruption, runProgram, wholeNumber } from '../runs/run-program.js';
import { askerOnTerminal } from '../terminal/ask-on-terminal.js';
import { type Column, renderTable } from '../terminal/table.js';
import { plain, plainLine, printableJson, styled, warn } from '../terminal/terminal.js';
import { runOne } from './code.js';
import { registerAccept } from './scripts-accept.js';
import { addFromRun, type FromRunFlags } from './scripts-from-run.js';

export const register: Register = (program, context) => {
  const scripts = program
    .command('scripts')
    .description('programs that are kept to be run by name: add, list, show, run, accept, remove')
    .addHelpText('after', HELP);
  scripts
    .command('add')
    .argument('[name]', 'lower-case letters, digits, - and _')
    .argument('[file]', 'the source; - reads stdin')
    .description('store a program: from a file, or from a run that worked')
    .option('--from-run <run>', `the program of this run: ${RUN_ARGUMENT}`)
    .option('--name <name>', 'the same as the first argument')
    .option('--input <name=value>', 'a value of that program that varies; may be given several times', collected, [])
    .option('--dry-run', 'show what would be stored of the run, and which values may vary')
    .option('--json', 'as JSON, for --from-run')
    .option('--description <text>', 'what it does; agents read it. Without it a replaced script keeps its own')
    .option('--input-schema <file>', 'JSON Schema of its input; without it any object is accepted')
    .option('--language <language>', LANGUAGES.join(' or '), 'typescript')
    .option('--profile <profile>', `the contract it is written for: ${SCRIPT_PROFILES.join(', ')}`, 'codemode')
    .option('--replace', 'replace the script that has this name')
    .option('--no-check', 'skip the syntax check, which needs a jail')
    .addHelpText('after', STATUS)
    .action(async (name: string | undefined, file: string | undefined, flags: AddFlags) => {
      context.exitWith(await add(context, name ?? flags.name, file, flags));
    });
  scripts
    .command('list', { isDefault: true })
    .description('what is stored')
    .option('--json', 'as JSON')
    .addHelpText('after', STATUS)
    .action(async (flags: { json?: boolean }) => {
      context.exitWith(await list(context, flags.json === true));
    });
  scripts
    .command('show')
    .argument('<name>', 'or an earlier version, of which the last ten are kept: monthly-report@2')
    .description('one of them, with its source')
    .option('--json', 'as JSON')
    .addHelpText('after', STATUS)
    .action(async (name: string, flags: { json?: boolean }) => {
      context.exitWith(await show(context, name, flags.json === true));
    });
  scripts
    .command('run')
    .argument('<name>')
    .description('run one, like codemode run')
    .option('--input <json>', 'its input, a JSON object')
    .option('--input-file <file>', 'the same from a file; - reads stdin')
    .option('--timeout <ms>', 'stop it after this many milliseconds')
    .option('--pretty', 'indent the JSON')
    .option('--json', 'as JSON on a terminal too')
    .addHelpText('after', RUN_STATUS)
    .action(async (name: string, flags: RunFlags) => {
      context.exitWith(await run(context, name, flags));
    });
  registerAccept(scripts, context);
  scripts
    .command('remove')
    .argument('<name>')
    .description('remove a stored script; runs in progress continue')
    .addHelpText('after', STATUS)
    .action(async (name: string) => {
      await withRecords(context, ({ scripts: library }) => library.remove(name));
      process.stdout.write(`removed: ${name}\n`);
      context.exitWith(EXIT.ok);
    });
};

const LANGUAGES = ['typescript', 'javascript'] as const;

const HELP = `
A stored script is a program like any other, and reads its input from a module:
  import { input } from '@codemode/input';
Programs of agents run it too, as a function of @codemode/scripts. They can ask for one to be stored (save), which the policy
decides about (@codemode/scripts/save asks a person by default). Only this command replaces and removes.

A script that was made of a run is pinned to the tools that the run called. Where one of them has changed, a person is asked
before the script runs, until you accept them as they are: codemode scripts accept NAME.

list --json prints [{ "name", "version", "description", "profile", "language", "inputSchema", "outputSchema", "pins", "fromRun",
"savedBy", "digest", "createdAt" }].

Examples:
  codemode scripts add --from-run last --name monthly-report --dry-run
  codemode scripts add --from-run last --name monthly-report --input month=2026-11
  codemode scripts run monthly-report --input '{ "month": "2026-12" }'

Exit status: 0, 1 the script failed, 2 no such script, an invalid name or input, or a syntax error,
  3 it is suspended until a person decides (see codemode approvals), 69 no jail available.
`;

const STATUS = '\nExit status: 0, 2 bad input; see codemode scripts --help.\n';
const RUN_STATUS = `
Exit status: as of codemode run; 2 also where the input does not fit the script's schema.

Example:
  codemode scripts run report --input '{ "days": 7 }'
`;

interface AddFlags extends FromRunFlags {
  readonly name?: string;
  readonly fromRun?: string;
  readonly inputSchema?: string;
  readonly language: string;
  readonly profile: string;
}

function collected(value: string, before: readonly string[]): string[] {
  return [...before, value];
}

interface RunFlags {
  readonly input?: string;
  readonly inputFile?: string;
  readonly timeout?: string;
  readonly pretty?: boolean;
  readonly json?: boolean;
}

async function add(
  context: CommandContext,
  name: string | undefined,
  file: string | undefined,
  flags: AddFlags,
): Promise<number> {
  if (name === undefined)
    throw new HostError(
      'bad_input',
      'a name is missing; type: codemode scripts add NAME FILE, or --from-run RUN --name NAME',
    );
  // Before the jail starts, so that a typo is reported at once.
  checkName(name);
  if (flags.fromRun !== undefined) {
    if (file !== undefined) throw new HostError('bad_input', 'a file and --from-run were both given; give one of them');
    return addFromRun(context, { name, run: flags.fromRun }, flags);
  }
  if (file === undefined)
    throw new HostError('bad_input', 'a file is missing; type: codemode scripts add NAME FILE, where - reads stdin');
  const profile = oneOf('--profile', flags.profile, SCRIPT_PROFILES);
  const language = oneOf('--language', flags.language, LANGUAGES);
  const schema = flags.inputSchema === undefined ? undefined : await readSchema(name, flags.inputSchema);
  const source = await readSource(file);
  const replaces = flags.replace === true;
  // Classic scripts are parsed by the contract that runs them.
  if (flags.check && needsOf(profile).program === 'module') await checkSyntax(context, source, language);
  const { isNew } = await withRecords(context, async ({ scripts }) => {
    const description = flags.description ?? (replaces ? await scripts.descriptionOf(name) : '');
    const script = { name, source, language, profile, description, ...omitUndefined({ inputSchema: schema }) };
    return scripts.add(script, { replaces });
  });
  process.stdout.write(`${isNew ? 'stored' : 'replaced'}: ${name}\n`);
  return EXIT.ok;
}

async function readSchema(name: string, file: string) {
  const schema = readInputSchema(await readSource(file, { name: 'JSON Schema' }), file);
  const { schemaWarnings } = await import('../../../host/scripts/script-input.js');
  warn(schemaWarnings(name, schema));
  return schema;
}

function list(context: CommandContext, isJson: boolean): Promise<number> {
  return withRecords(context, async ({ scripts }) => {
    const found = await scripts.list();
    if (isJson) process.stdout.write(`${printableJson(found.map(asJson), true)}\n`);
    else if (found.length === 0) process.stderr.write('nothing is stored; to store a program: codemode scripts add\n');
    else process.stdout.write(`${renderList(found)}\n`);
    return EXIT.ok;
  });
}

function show(context: CommandContext, given: string, isJson: boolean): Promise<number> {
  const [name = '', version] = given.split('@', 2);
  const wanted = version === undefined ? undefined : countFrom1('the version', version);
  return withRecords(context, async ({ scripts }) => {
    const { source, ...head } = await scripts.get(name, wanted);
    if (isJson) {
      process.stdout.write(`${printableJson({ ...asJson(head), source }, true)}\n`);
      return EXIT.ok;
    }
    const { inputSchema, outputSchema, pins = [] } = head;
    const parts = [
      ...(inputSchema === undefined ? [] : ['input:', printableJson(inputSchema, true)]),
      ...(outputSchema === undefined ? [] : ['result of the run it is from:', printableJson(outputSchema, true)]),
      ...(pins.length === 0
        ? []
        : [`calls: ${pins.map(({ server, tool }) => plainLine(`${server}/${tool}`)).join(', ')}`]),
    ];
    process.stdout.write(`${[lineOf(head), ...parts, '', plain(source)].join('\n')}\n`);
    return EXIT.ok;
  });
}

async function run(context: CommandContext, name: string, flags: RunFlags): Promise<number> {
  const given = wholeNumber('timeout', 'timeoutMs', flags.timeout);
  const value = await readInput(flags);
  // Looked up first, so that a mistyped name does not wait for a jail.
  const script = await withRecords(context, ({ scripts }) => scripts.get(name));
  const { checkScriptInput } = await import('../../../host/scripts/script-input.js');
  const checked = checkScriptInput(script, value);
  if (!checked.ok) throw new HostError('bad_input', `${checked.error.message} ${checked.error.hint}`);
  const { source, language, profile } = script;
  if (needsOf(profile).program === 'script') {
    if ((script.pins ?? []).length > 0) await confirmAlone(context, script);
    const options = omitUndefined({ options: ifDefined(given.timeoutMs, (timeoutMs) => ({ timeout_ms: timeoutMs })) });
    return runOne(context, { code: source, language, input: checked.input, ...options });
  }
  const signal = interruption();
  const composed = await context.compose();
  await using _ = composed.host;
  return await runProgram(composed, { source, input: checked.input, script }, { given, output: flags, signal });
}

async function readInput({ input, inputFile }: RunFlags): Promise<JsonValue | undefined> {
  if (input !== undefined && inputFile !== undefined)
    throw new HostError('bad_input', '--input and --input-file were both given; give one of them');
  const text = inputFile === undefined ? input : await readSource(inputFile, { name: 'JSON object' });
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    const flag = inputFile === undefined ? '--input' : inputFile;
    const why = error instanceof Error ? error.message : 'it cannot be read';
    throw new HostError('bad_input', `${flag} is not JSON: ${why}`);
  }
}

/** A classic script is run by its own contract, so changed tools are confirmed before. */
async function confirmAlone(context: CommandContext, script: StoredScript): Promise<void> {
  const composed = await context.compose();
  await using _ = composed.host;
  const askPerson = askerOnTerminal(composed.host.approvals);
  await openCommandSession(composed).confirmScript(script, { askPerson, signal: interruption() });
}

export function asJson({ createdAtMs, ...head }: ScriptHead) {
  return { ...head, createdAt: new Date(createdAtMs).toISOString() };
}

const COLUMNS: readonly Column[] = [
  { title: 'NAME', cutFirst: 1 },
  { title: 'VERSION', isNumber: true },
  { title: 'PROFILE' },
  { title: 'LANGUAGE' },
  { title: 'STORED', cutFirst: 2 },
  { title: 'DESCRIPTION', cutFirst: 3 },
];

function renderList(found: readonly ScriptHead[]): string {
  const rows = found.map(({ name, version, profile, language, createdAtMs, description }) => ({
    cells: [
      { text: name, style: 'bold' as const },
      String(version),
      profile,
      language,
      new Date(createdAtMs).toISOString(),
      description.replace(/\s+/g, ' '),
    ],
  }));
  return renderTable(COLUMNS, rows);
}

function lineOf({ name, version, profile, language, description, createdAtMs, fromRun, savedBy }: ScriptHead): string {
  const about = description === '' ? '' : `\n  ${plainLine(description.replace(/\s+/g, ' '))}`;
  const at = new Date(createdAtMs).toISOString();
  const from = fromRun === undefined ? '' : `\n  from run ${plainLine(fromRun)}`;
  const by = savedBy === undefined ? '' : `, saved by ${plainLine(savedBy)}`;
  return `${styled('bold', plainLine(name))}  version ${version}  ${profile}  ${language}  ${at}${about}${from}${by}`;
}
