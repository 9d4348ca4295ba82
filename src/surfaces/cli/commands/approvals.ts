import { type Approval, cardsOf, GRANT_SCOPES, type GrantScope } from '../../../domain/approval.js';
import { HostError } from '../../../domain/errors.js';
import { refuseEndedRun } from '../../../host/ended-run.js';
import { shellWord } from '../../../lib/shell-word.js';
import { isNameCut, nameOf } from '../ask-on-terminal.js';
import { askYesNo } from '../ask-yes-no.js';
import { type CommandContext, EXIT, type Register, withRecords } from '../command.js';
import type { ComposedRecords } from '../composed.js';
import { consentJson, consentLine, consentText } from '../consent-text.js';
import { LAST, resolveId, shortIds } from '../resolve-id.js';
import { type Column, type Row, renderTable } from '../table.js';
import { plainLine, printableJson, type Style, styled, terminalWidth } from '../terminal.js';
import { hasPersonAtTerminal } from '../terminal-line.js';
import { userName } from '../user-name.js';

export const register: Register = (program, context) => {
  const approvals = program
    .command('approvals')
    .description('calls that wait for a person: look at them, approve or deny them')
    .addHelpText('after', HELP);
  approvals
    .command('list', { isDefault: true })
    .description('what waits for a decision')
    .option('--all', 'also what was decided or has expired')
    .option('--json', 'as JSON')
    .addHelpText('after', STATUS)
    .action(async (flags: { all?: boolean; json?: boolean }) => {
      context.exitWith(await withRecords(context, (records) => list(records, flags)));
    });
  approvals
    .command('show')
    .argument('<id>', ID)
    .description('one of them: arguments, reason, and the code around the call')
    .option('--json', 'as JSON')
    .addHelpText('after', STATUS)
    .action(async (id: string, flags: { json?: boolean }) => {
      context.exitWith(await withRecords(context, (records) => show(records, id, flags.json === true)));
    });
  approvals
    .command('approve')
    .argument('<id>', ID_TO_DECIDE)
    .description('let the call be made')
    .option('--scope <scope>', `how far the yes reaches: ${GRANT_SCOPES.join(', ')}`, 'call')
    .option('--reason <text>', 'why; it is recorded')
    .addHelpText('after', STATUS)
    .action(async (id: string, flags: DecideFlags) => {
      context.exitWith(
        await withRecords(context, (records) => decide(records, id, 'APPROVED', { ...flags, ...configOf(context) })),
      );
    });
  approvals
    .command('deny')
    .argument('<id>', ID_TO_DECIDE)
    .description('refuse it; the program is told, with the reason')
    .option('--scope <scope>', 'call, or calls for all of the same card', 'call')
    .option('--reason <text>', 'why; it is recorded, and the program is told')
    .addHelpText('after', STATUS)
    .action(async (id: string, flags: DecideFlags) => {
      context.exitWith(
        await withRecords(context, (records) => decide(records, id, 'DENIED', { ...flags, ...configOf(context) })),
      );
    });
  approvals
    .command('secret')
    .description('make the secret by which you decide without a terminal (CODEMODE_APPROVER_SECRET)')
    .addHelpText('after', STATUS)
    .action(async () => {
      context.exitWith(await withRecords(context, makeSecret));
    });
};

const ID = 'its id, or the first 4 or more characters of it, or last';
const ID_TO_DECIDE =
  'its id, or the first 4 or more characters of it; last only on a terminal, which shows it and asks';

const HELP = `
A decision needs a terminal or the approver's secret in CODEMODE_APPROVER_SECRET: an agent that can only start programs
decides nothing. Scopes: call (this call with these arguments), calls (all calls of this tool that wait in this run),
run (this tool until the run ends), hour (this tool, for this caller, for an hour).

--json prints [{ "id", "runId", "serverId", "toolName", "arguments", "state", "createdAt", "expiresAt", "reason" }].

A yes to a call of a run that has ended changes nothing and is refused, unless its scope is hour.

Exit status: 0 it was listed or decided, 1 somebody else has decided before, or it has expired, 2 no such approval, its
run has ended, or neither a terminal nor the right secret.
`;

const STATUS = '\nExit status: 0, 1 decided before or expired, 2 bad input; see codemode approvals --help.\n';

interface DecideFlags {
  readonly scope: string;
  readonly reason?: string;
}

const MAX_LISTED = 1_000;

async function list({ approvals }: ComposedRecords, flags: { all?: boolean; json?: boolean }): Promise<number> {
  const found = flags.all === true ? await approvals.recent(MAX_LISTED) : await approvals.pending();
  if (flags.json === true) process.stdout.write(`${printableJson(found.map(asJson), true)}\n`);
  else if (found.length === 0) process.stderr.write('nothing waits for a decision\n');
  else process.stdout.write(`${renderList(found)}\n`);
  return EXIT.ok;
}

async function show({ approvals }: ComposedRecords, given: string, isJson: boolean): Promise<number> {
  const approval = await mustFind(approvals, given);
  if (isJson) {
    process.stdout.write(`${printableJson({ ...asJson(approval), code: approval.code }, true)}\n`);
    return EXIT.ok;
  }
  process.stdout.write(`${renderOne(approval, Infinity).text}\n`);
  return EXIT.ok;
}

/** What the program or a tool wrote stands in rows that are marked as theirs. `most`: characters of one value that are shown. */
function renderOne(approval: Approval, most?: number): { readonly text: string; readonly isCut: boolean } {
  const { id, reason, runId, state, code, decision } = approval;
  const bound = most === undefined ? {} : { maxCharacters: most };
  const why = consentText(reason, bound);
  const input = consentJson(approval.arguments, bound);
  const lines = code === '' ? undefined : consentText(code, bound);
  const said = decision?.reason === undefined ? undefined : consentText(decision.reason, bound);
  const rows = [
    `${styled('bold', nameOf(approval))}  ${styled(STYLES[state], state)}`,
    `approval:         ${plainLine(id)}`,
    `run:              ${plainLine(runId)}, call ${approval.call}`,
    `expires:          ${new Date(approval.expiresAtMs).toISOString()}`,
    ...(decision === undefined ? [] : [`decided:          by ${consentLine(decision.by)}`]),
    ...(said?.rows ?? []),
    'why it is asked:',
    ...why.rows,
    'arguments:',
    ...input.rows,
    ...(lines === undefined ? [] : ['in the program:', ...lines.rows]),
  ];
  const isCut = isNameCut(approval) || [why, input, lines, said].some((each) => each?.isCut === true);
  return { text: rows.join('\n'), isCut };
}

async function decide(
  records: ComposedRecords,
  given: string,
  state: 'APPROVED' | 'DENIED',
  { scope, reason, configFile }: DecideFlags & { readonly configFile?: string },
): Promise<number> {
  const by = await personOf(records);
  if (given === LAST && !hasPersonAtTerminal())
    throw new HostError(
      'bad_input',
      `${LAST} is taken for a decision only on a terminal, which shows what it is; give the id, as codemode approvals lists it`,
    );
  const approval = await mustFind(records.approvals, given, 'pending');
  const { id } = approval;
  // A program can ask for something else at any moment: what is decided about is what was just shown, by its id.
  if (given === LAST && !(await isWanted(approval, state, scopeOf(scope)))) {
    process.stderr.write('codemode: nothing was decided\n');
    return EXIT.failed;
  }
  if (approval.state === 'PENDING' && state === 'APPROVED')
    await refuseEndedRun(approval, scopeOf(scope), (runId) => records.sleeping.show(runId));
  const decided = await records.approvals.decide(id, state, {
    by,
    scope: scopeOf(scope),
    ...(reason === undefined ? {} : { reason }),
  });
  const verb = state === 'APPROVED' ? 'approved' : 'denied';
  if (!decided.isFirst) {
    const { state: before, decision } = decided.approval;
    const who = decision === undefined ? '' : ` by ${decision.by}`;
    process.stderr.write(
      `codemode: ${plainLine(`${id} was ${before.toLowerCase()}${who} before; nothing was changed`)}\n`,
    );
    return EXIT.failed;
  }
  const count = decided.approvals.length;
  process.stdout.write(`${plainLine(`${verb}: ${count === 1 ? id : `${count} calls`}`)}\n`);
  if (!approval.runId.startsWith('direct-')) await sayWhatNext(records, approval.runId, configFile);
  return EXIT.ok;
}

async function isWanted(approval: Approval, state: 'APPROVED' | 'DENIED', scope: GrantScope): Promise<boolean> {
  const { text, isCut } = renderOne(approval);
  if (isCut && state === 'APPROVED') {
    process.stdout.write(`${text}\n\n`);
    throw new HostError(
      'bad_input',
      `it is too long to be shown whole here; read it with: codemode approvals show ${approval.id}, then approve it by its id`,
    );
  }
  const reach = scope === 'call' ? 'this call' : `this, with --scope ${scope}`;
  // The name once more: arguments of many lines push the first line off the screen.
  return askYesNo(`${state === 'APPROVED' ? 'Approve' : 'Deny'} ${reach}?`, {
    text: `${text}\n\n${nameOf(approval)}\n`,
  });
}

/** Long enough for a host that is up to take the run. */
const NOTICE_MS = 1_500;

/** The file that was named: what is typed next needs it too. */
function configOf(context: CommandContext): { readonly configFile?: string } {
  const configFile = context.configFile();
  return configFile === undefined ? {} : { configFile };
}

async function sayWhatNext(
  { sleeping, approvals }: ComposedRecords,
  runId: string,
  configFile: string | undefined,
): Promise<void> {
  const config = configFile === undefined ? '' : ` --config ${shellWord(configFile)}`;
  const open = (await approvals.ofRun(runId)).filter(({ state }) => state === 'PENDING');
  if (open.length > 0) {
    process.stdout.write(
      `run ${plainLine(runId)} still waits for ${open.length} more: codemode approvals${plainLine(config)}\n`,
    );
    return;
  }
  const until = Date.now() + NOTICE_MS;
  for (;;) {
    const run = await sleeping.show(runId).catch(() => undefined);
    // Not stored: the program still has its place, in a host that looks for decisions.
    if (run === undefined || run.state !== 'waiting') return;
    if (Date.now() > until) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  process.stdout.write(
    `No running host will resume it. Resume it with: codemode runs resume ${plainLine(`${runId}${config}`)}\n`,
  );
}

/** Throws where nobody can be seen to be a person. */
async function personOf({ approverSecret }: ComposedRecords): Promise<string> {
  const isGiven = await approverSecret.isGiven();
  if (isGiven === true) return `${userName()} (secret)`;
  if (isGiven === false)
    throw new HostError(
      'bad_input',
      "CODEMODE_APPROVER_SECRET is not the approver's secret; make one with: codemode approvals secret",
    );
  if (hasPersonAtTerminal()) return `${userName()} (terminal)`;
  throw new HostError(
    'bad_input',
    "a decision needs a terminal, or the approver's secret in CODEMODE_APPROVER_SECRET (codemode approvals secret makes one)",
  );
}

async function makeSecret(records: ComposedRecords): Promise<number> {
  if (!hasPersonAtTerminal()) {
    const isGiven = await records.approverSecret.isGiven();
    if (isGiven !== true)
      throw new HostError('bad_input', 'a secret is made on a terminal, where only you can read it; type it in one');
  }
  process.stdout.write(`${await records.approverSecret.make()}\n`);
  process.stderr.write('keep it to yourself: whoever has it can approve calls. It replaces the one before.\n');
  return EXIT.ok;
}

function scopeOf(text: string): GrantScope {
  const scope = GRANT_SCOPES.find((each) => each === text);
  if (scope !== undefined) return scope;
  throw new HostError(
    'bad_input',
    `--scope: expected ${GRANT_SCOPES.join(', ')}, found ${JSON.stringify(text.slice(0, 40))}`,
  );
}

/** By its id or the beginning of it. `last` is the newest that waits; to look at, else the newest of all. */
async function mustFind(
  approvals: ComposedRecords['approvals'],
  given: string,
  last: 'pending' | 'any' = 'any',
): Promise<Approval> {
  const newest = async () => (last === 'any' ? (await approvals.recent(1))[0] : undefined);
  const id = await resolveId(given, {
    noun: 'approval',
    listedBy: 'codemode approvals',
    idsWith: (prefix, limit) => approvals.idsWith(prefix, limit),
    latest: async () => ((await approvals.pending()).at(-1) ?? (await newest()))?.id,
  });
  const approval = await approvals.find(id);
  if (approval !== undefined) return approval;
  throw new HostError('not_found', `there is no approval ${JSON.stringify(id)}; list them with: codemode approvals`);
}

const STYLES = { PENDING: 'yellow', APPROVED: 'green', DENIED: 'red', EXPIRED: 'dim' } as const satisfies Record<
  Approval['state'],
  Style
>;

const COLUMNS: readonly Column[] = [
  { title: 'APPROVAL' },
  { title: 'STATE' },
  { title: 'TOOL', cutFirst: 1 },
  { title: 'ARGUMENTS', cutFirst: 2 },
];

function renderList(found: readonly Approval[]): string {
  const width = terminalWidth();
  const short = width === undefined ? (id: string) => id : shortIds(found.map(({ id }) => id));
  const shortRun = width === undefined ? (id: string) => id : shortIds(found.map(({ runId }) => runId));
  const rows = cardsOf(found).map((card): Row => {
    const [first] = card as [Approval];
    const { id, tool, reason, state } = first;
    const others = card.length === 1 ? [] : [`  and ${card.length - 1} more calls (--scope calls)`];
    return {
      cells: [
        short(id),
        { text: state, style: STYLES[state] },
        `${tool.serverId}/${tool.toolName}`,
        JSON.stringify(first.arguments),
      ],
      below: [`  ${plainLine(`${reason}; run ${shortRun(first.runId)}`)}`, ...others],
    };
  });
  return renderTable(COLUMNS, rows, width);
}

function asJson({ id, runId, tool, arguments: input, state, createdAtMs, expiresAtMs, reason, decision }: Approval) {
  return {
    id,
    runId,
    serverId: tool.serverId,
    toolName: tool.toolName,
    arguments: input,
    state,
    createdAt: new Date(createdAtMs).toISOString(),
    expiresAt: new Date(expiresAtMs).toISOString(),
    reason,
    ...(decision === undefined
      ? {}
      : { decision: { by: decision.by, at: new Date(decision.atMs).toISOString(), reason: decision.reason } }),
  };
}
