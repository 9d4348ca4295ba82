import { HostError } from '../../../domain/errors.js';
import type { JsonValue } from '../../../domain/json.js';
import { needsOf } from '../../../domain/profile-name.js';
import { SCRIPT_PROFILES, type ScriptHead } from '../../../domain/script.js';
import { checkName, readInputSchema } from '../../../host/scripts/stored-scripts.js';
import { type CommandContext, EXIT, type Register, withRecords } from '../command.js';
import { oneOf } from '../options.js';
import { readSource } from '../read-source.js';
import { interruption, runProgram, wholeNumber } from '../run-program.js';
import { type Column, renderTable } from '../table.js';
import { plain, plainLine, printableJson, styled, warn } from '../terminal.js';
import { runOne } from './code.js';

export const register: Register = (program, context) => {
  const scripts = program
    .command('scripts')
    .description('programs that are stored to be run by name: add, list, show, run, remove')
    .addHelpText('after', HELP);
  scripts
    .command('add')
    .argument('<name>', 'lower-case letters, digits, - and _')
    .argument('<file>', 'the source; - reads stdin')
    .description('store a program')
    .option('--description <text>', 'what it does; agents read it', '')
    .option('--input-schema <file>', 'JSON Schema of its input; without it any object is taken')
    .option('--language <language>', LANGUAGES.join(' or '), 'typescript')
    .option('--profile <profile>', `the contract it is written for: ${SCRIPT_PROFILES.join(', ')}`, 'codemode')
    .option('--replace', 'also where the name is taken')
    .option('--no-check', 'do not look for mistakes of syntax: needs no jail')
    .addHelpText('after', STATUS)
    .action(async (name: string, file: string, flags: AddFlags) => {
      context.exitWith(await add(context, name, file, flags));
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
    .argument('<name>')
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
Programs of agents run it too: import { runScript } from '@codemode/scripts'. Only this command stores and removes.

list --json prints [{ "name", "description", "profile", "language", "inputSchema", "digest", "createdAt" }].

Exit status: 0, 1 the script failed, 2 no such script, an invalid name or input, or a syntax error,
  3 it is suspended until a person decides (see codemode approvals), 69 no jail available.
`;

const STATUS = '\nExit status: 0, 2 bad input; see codemode scripts --help.\n';
const RUN_STATUS = `
Exit status: as of codemode run; 2 also where the input does not fit the script's schema.

Example:
  codemode scripts run report --input '{ "days": 7 }'
`;

interface AddFlags {
  readonly description: string;
  readonly inputSchema?: string;
  readonly language: string;
  readonly profile: string;
  readonly replace?: boolean;
  readonly check: boolean;
}

interface RunFlags {
  readonly input?: string;
  readonly inputFile?: string;
  readonly timeout?: string;
  readonly pretty?: boolean;
  readonly json?: boolean;
}

async function add(context: CommandContext, name: string, file: string, flags: AddFlags): Promise<number> {
  // Before the jail starts, so that a typo is reported at once.
  checkName(name);
  const profile = oneOf('--profile', flags.profile, SCRIPT_PROFILES);
  const language = oneOf('--language', flags.language, LANGUAGES);
  const schema = flags.inputSchema === undefined ? undefined : await readSchema(name, flags.inputSchema);
  const source = await readSource(file);
  const script = {
    name,
    source,
    language,
    profile,
    description: flags.description,
    ...(schema === undefined ? {} : { inputSchema: schema }),
  };
  // Classic scripts are read by the contract that runs them.
  if (flags.check && needsOf(profile).program === 'module') await checkSyntax(context, source, language);
  const replaces = flags.replace === true;
  const { isNew } = await withRecords(context, ({ scripts }) => scripts.add(script, { replaces }));
  process.stdout.write(`${isNew ? 'stored' : 'replaced'}: ${name}\n`);
  return EXIT.ok;
}

async function readSchema(name: string, file: string) {
  const schema = readInputSchema(await readSource(file, { name: 'JSON Schema' }), file);
  const { schemaWarnings } = await import('../../../host/scripts/script-input.js');
  warn(schemaWarnings(name, schema));
  return schema;
}

async function checkSyntax(context: CommandContext, source: string, language: 'typescript' | 'javascript') {
  const { host } = await context.compose();
  await using _ = host;
  const failure = await host.findSyntaxError(source, language);
  if (failure === undefined) return;
  const { message, position } = failure;
  const place = position === undefined ? '' : ` at line ${position.line}, column ${position.column}`;
  throw new HostError('bad_input', `the script cannot be read; correct it${place} and add it again: ${message}`);
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

function show(context: CommandContext, name: string, isJson: boolean): Promise<number> {
  return withRecords(context, async ({ scripts }) => {
    const { source, ...head } = await scripts.get(name);
    if (isJson) {
      process.stdout.write(`${printableJson({ ...asJson(head), source }, true)}\n`);
      return EXIT.ok;
    }
    const { inputSchema } = head;
    const input = inputSchema === undefined ? [] : ['input:', printableJson(inputSchema, true)];
    process.stdout.write(`${[lineOf(head), ...input, '', plain(source)].join('\n')}\n`);
    return EXIT.ok;
  });
}

async function run(context: CommandContext, name: string, flags: RunFlags): Promise<number> {
  const given = wholeNumber('timeout', 'timeoutMs', flags.timeout);
  const value = await readInput(flags);
  // Looked for first: who mistypes a name does not wait for a jail.
  const script = await withRecords(context, ({ scripts }) => scripts.get(name));
  const { checkScriptInput } = await import('../../../host/scripts/script-input.js');
  const checked = checkScriptInput(script, value);
  if (!checked.ok) throw new HostError('bad_input', `${checked.error.message} ${checked.error.hint}`);
  const { source, language, profile } = script;
  if (needsOf(profile).program === 'script') {
    const options = given.timeoutMs === undefined ? {} : { options: { timeout_ms: given.timeoutMs } };
    return runOne(context, { code: source, language, input: checked.input, ...options });
  }
  const signal = interruption();
  const composed = await context.compose();
  await using _ = composed.host;
  return await runProgram(composed, { source, language, input: checked.input }, { given, output: flags, signal });
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

function asJson({ createdAtMs, ...head }: ScriptHead) {
  return { ...head, createdAt: new Date(createdAtMs).toISOString() };
}

const COLUMNS: readonly Column[] = [
  { title: 'NAME', cutFirst: 1 },
  { title: 'PROFILE' },
  { title: 'LANGUAGE' },
  { title: 'STORED', cutFirst: 2 },
  { title: 'DESCRIPTION', cutFirst: 3 },
];

function renderList(found: readonly ScriptHead[]): string {
  const rows = found.map(({ name, profile, language, createdAtMs, description }) => ({
    cells: [
      { text: name, style: 'bold' as const },
      profile,
      language,
      new Date(createdAtMs).toISOString(),
      description.replace(/\s+/g, ' '),
    ],
  }));
  return renderTable(COLUMNS, rows);
}

function lineOf({ name, profile, language, description, createdAtMs }: ScriptHead): string {
  const about = description === '' ? '' : `\n  ${plainLine(description.replace(/\s+/g, ' '))}`;
  const at = new Date(createdAtMs).toISOString();
  return `${styled('bold', plainLine(name))}  ${profile}  ${language}  ${at}${about}`;
}
