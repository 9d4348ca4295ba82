import { type Approval, cardsOf, GRANT_SCOPES, type GrantScope } from '../../../domain/approval.js';
import { HostError } from '../../../domain/errors.js';
import { MAX_ARGUMENT_CHARACTERS, timeOf } from '../../../domain/format-approval.js';
import { refuseEndedRun } from '../../../host/runs/refuse-ended-run.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { cardDigest, MIN_DIGEST_DIGITS } from '../../../lib/secrets/card-digest.js';
import { shellWord } from '../../../lib/text/shell-word.js';
import { type CommandContext, EXIT, type Register, withRecords } from '../command.js';
import type { ComposedRecords } from '../composed.js';
import { personOf } from '../person-of.js';
import { approvalJson, renderCard, renderList, renderOne } from '../runs/approval-text.js';
import { LAST, resolveId } from '../runs/resolve-id.js';
import { cardOf, nameOf } from '../terminal/ask-on-terminal.js';
import { askYesNo } from '../terminal/ask-yes-no.js';
import { plainLine, printableJson } from '../terminal/terminal.js';
import { hasPersonAtTerminal } from '../terminal/terminal-line.js';
import { noteOwnName } from '../trust/own-name-note.js';
import { registerGrants, sayGrant, sayGrants } from './approvals-grants.js';

export const register: Register = (program, context) => {
  const approvals = program
    .command('approvals')
    .description('show, approve or deny calls that wait for a person')
    .addHelpText('after', HELP);
  approvals
    .command('list', { isDefault: true })
    .description('list the pending approvals')
    .option('--all', 'include decided and expired ones')
    .option('--json', 'as JSON')
    .addHelpText('after', STATUS)
    .action(async (flags: { all?: boolean; json?: boolean }) => {
      context.exitWith(await withRecords(context, (records) => list(records, flags)));
    });
  approvals
    .command('show')
    .argument('<id>', ID)
    .description('show one in full: arguments and their digest, reason, and the code around the call')
    .option('--scope <scope>', 'call, or calls for all that wait on the same card', 'call')
    .option('--json', 'as JSON')
    .addHelpText('after', STATUS)
    .action(async (id: string, flags: ShowFlags) => {
      context.exitWith(await withRecords(context, (records) => show(records, id, flags)));
    });
  approvals
    .command('approve')
    .argument('<id>', ID_TO_DECIDE)
    .description('allow the call')
    .option('--scope <scope>', `what the approval covers: ${GRANT_SCOPES.join(', ')}`, 'call')
    .option('--digest <sha256>', 'digest of what you have read, as show prints it; nothing else is approved')
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
    .description('refuse the call; the program gets the reason')
    .option('--scope <scope>', 'call, or calls for all of the same card', 'call')
    .option('--reason <text>', 'why; it is recorded, and the program gets it')
    .addHelpText('after', STATUS)
    .action(async (id: string, flags: DecideFlags) => {
      context.exitWith(
        await withRecords(context, (records) => decide(records, id, 'DENIED', { ...flags, ...configOf(context) })),
      );
    });
  registerGrants(approvals, context);
  approvals
    .command('secret')
    .description('create the secret with which you decide without a terminal (CODEMODE_APPROVER_SECRET)')
    .addHelpText('after', STATUS)
    .action(async () => {
      context.exitWith(await withRecords(context, makeSecret));
    });
};

const ID = 'its id, or the first 4 or more characters of it, or last';
const ID_TO_DECIDE =
  'its id, or the first 4 or more characters of it; last only on a terminal, which shows it and asks';

const HELP = `
A decision needs a terminal, the approver's secret in CODEMODE_APPROVER_SECRET, or a session of the console. If agents can use
your shell, create the secret: from then on a link to the console is made only with it. On a terminal, approve shows the call. Where its arguments are longer than the message that told you its id
shows, it asks, unless --digest names what you have read. Without a terminal --scope calls needs --digest.

Scopes: call (this call with these arguments), calls (the calls that wait on the same card), run (this tool until the run
ends), hour (this tool, for this caller, for an hour). A call made for a reason that was not shown needs a new approval. codemode approvals grants lists the run and hour decisions
that are in force, and codemode approvals revoke ID ends one.

--json prints [{ "id", "runId", "serverId", "toolName", "arguments", "digest", "hiddenParts", "state", "createdAt",
"expiresAt", "reason" }]; digest is the SHA-256 of the arguments as they are sent.

An approval for a call of a run that has ended changes nothing and is refused, unless its scope is hour. A program that cannot be
suspended (profiles runner, code_execution, go) may have ended before you decide: run the same program again, and the same
call with the same arguments is made, once.

Exit status: 0 it was listed or decided, 1 somebody else decided first, or it has expired, 2 no such approval, its
run has ended, or neither a terminal nor the right secret.
`;

const STATUS = '\nExit status: 0, 1 decided before or expired, 2 bad input; see codemode approvals --help.\n';

interface ShowFlags {
  readonly scope: string;
  readonly json?: boolean;
}

interface DecideFlags {
  readonly scope: string;
  readonly digest?: string;
  readonly reason?: string;
}

const MAX_LISTED = 1_000;

async function list({ approvals }: ComposedRecords, flags: { all?: boolean; json?: boolean }): Promise<number> {
  const found = flags.all === true ? await approvals.recent(MAX_LISTED) : await approvals.pending();
  if (flags.json === true) process.stdout.write(`${printableJson(found.map(approvalJson), true)}\n`);
  else {
    if (found.length === 0) process.stderr.write('nothing waits for a decision\n');
    else process.stdout.write(`${renderList(found)}\n`);
    await sayGrants(approvals);
  }
  return EXIT.ok;
}

async function show({ approvals }: ComposedRecords, given: string, flags: ShowFlags): Promise<number> {
  const card = await cardWith(approvals, await mustFind(approvals, given), scopeOf(flags.scope));
  if (flags.json !== true) {
    process.stdout.write(`${renderCard(card)}\n`);
    return EXIT.ok;
  }
  const [first] = card.map((approval) => ({ ...approvalJson(approval), code: approval.code }));
  const calls = card.map((approval) => approvalJson(approval));
  const shown = card.length === 1 ? first : { calls, digest: cardDigest(card) };
  process.stdout.write(`${printableJson(shown, true)}\n`);
  return EXIT.ok;
}

/** With scope `calls`, every pending call on the same card. */
async function cardWith(
  approvals: ComposedRecords['approvals'],
  approval: Approval,
  scope: GrantScope,
): Promise<readonly Approval[]> {
  if (scope !== 'calls') return [approval];
  const cards = cardsOf(await approvals.ofRun(approval.runId));
  return cards.find((card) => card.some(({ id }) => id === approval.id)) ?? [approval];
}

async function decide(
  records: ComposedRecords,
  given: string,
  state: 'APPROVED' | 'DENIED',
  { scope: scopeText, digest, reason, configFile }: DecideFlags & { readonly configFile?: string },
): Promise<number> {
  const scope = scopeOf(scopeText);
  const by = await personOf(records);
  if (given === LAST && !hasPersonAtTerminal())
    throw new HostError(
      'bad_input',
      `${LAST} is taken for a decision only on a terminal, which shows what it is; give the id, as codemode approvals lists it`,
    );
  const approval = await mustFind(records.approvals, given, 'pending');
  const { id } = approval;
  if (approval.state === 'PENDING' && state === 'APPROVED')
    await refuseEndedRun(approval, scope, (runId) => records.suspended.stateOf(runId));
  // A program can make other calls at any moment. The decision covers exactly what was just shown, by its ids.
  const card = await cardWith(records.approvals, approval, scope);
  const isShown = approval.state === 'PENDING' && isToBeShown(given, state, digest);
  if (isShown && given !== LAST && isKnownWhole(card)) process.stdout.write(`${renderOne(approval).text}\n`);
  else if (isShown && !(await isWanted(card, state, scope))) {
    process.stderr.write('codemode: nothing was decided\n');
    return EXIT.failed;
  }
  const decided = await records.approvals.decide(id, state, {
    ...{ by, scope },
    ...(isShown ? { ids: card.map((each) => each.id) } : {}),
    ...omitUndefined({ digest, reason }),
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
  if (state === 'APPROVED') sayGrant(approval, scope);
  if (!approval.runId.startsWith('direct-')) await sayWhatNext(records, { ...approval, state, scope }, configFile);
  return EXIT.ok;
}

/** If the digest is named, the call was read. A program that decides with the secret reads `--json`. Anyone else is shown it now. */
function isToBeShown(given: string, state: 'APPROVED' | 'DENIED', digest: string | undefined): boolean {
  if (given === LAST) return true;
  return state === 'APPROVED' && digest === undefined && hasPersonAtTerminal();
}

/** The id comes from a message that shows short arguments in full. The person has seen only part of longer ones. */
function isKnownWhole(card: readonly Approval[]): boolean {
  const [{ arguments: input, hiddenParts, isUnreadable }] = card as readonly [Approval];
  const isShort = JSON.stringify(input).length <= MAX_ARGUMENT_CHARACTERS;
  return card.length === 1 && isShort && hiddenParts === 0 && isUnreadable !== true;
}

async function isWanted(card: readonly Approval[], state: 'APPROVED' | 'DENIED', scope: GrantScope): Promise<boolean> {
  const [first] = card as readonly [Approval];
  const { text, isCut } = card.length === 1 ? renderOne(first) : cardOf(card);
  if (isCut && state === 'APPROVED') {
    process.stdout.write(`${text}\n\n`);
    const words = `${first.id}${card.length === 1 ? '' : ' --scope calls'}`;
    throw new HostError(
      'bad_input',
      `it is too long to be shown whole here; read it with: codemode approvals show ${words}, then: codemode approvals approve ${words} --digest ${cardDigest(card).slice(0, MIN_DIGEST_DIGITS)}`,
    );
  }
  const calls = card.length === 1 ? 'this call' : `these ${card.length} calls`;
  const reach = scope === 'run' || scope === 'hour' ? `this, with --scope ${scope}` : calls;
  // The name is repeated: arguments of many lines push the first line off the screen.
  return askYesNo(`${state === 'APPROVED' ? 'Approve' : 'Deny'} ${reach}?`, {
    text: `${text}\n\n${nameOf(first)}\n`,
  });
}

/** Long enough for a running host to take the run. */
const NOTICE_MS = 1_500;

/** The `--config` file that was named: the next command needs it too. */
function configOf(context: CommandContext): { readonly configFile?: string } {
  const configFile = context.configFile();
  return omitUndefined({ configFile });
}

type DecidedCall = Pick<Approval, 'runId' | 'program' | 'expiresAtMs' | 'state'> & { readonly scope: GrantScope };

const ENDED: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled']);

async function sayWhatNext(
  { suspended, approvals }: ComposedRecords,
  { runId, program, expiresAtMs, state, scope }: DecidedCall,
  configFile: string | undefined,
): Promise<void> {
  const config = configFile === undefined ? '' : ` --config ${shellWord(configFile)}`;
  const known = await suspended.show(runId).catch(() => undefined);
  if (known !== undefined && ENDED.has(known.state)) {
    const isForNext = program !== undefined && state === 'APPROVED' && scope !== 'hour';
    const next = isForNext
      ? `. Run the same program again by ${timeOf(expiresAtMs)}: it makes the call, once`
      : ': it makes no more calls';
    process.stdout.write(`run ${plainLine(runId)} has ended${next}\n`);
    return;
  }
  const open = (await approvals.ofRun(runId)).filter(({ state }) => state === 'PENDING');
  if (open.length > 0) {
    process.stdout.write(
      `run ${plainLine(runId)} still waits for ${open.length} more: codemode approvals${plainLine(config)}\n`,
    );
    return;
  }
  const until = Date.now() + NOTICE_MS;
  for (;;) {
    const run = await suspended.show(runId).catch(() => undefined);
    // Not stored: the run is still in the memory of a host that polls for decisions.
    if (run === undefined || run.state !== 'suspended') return;
    if (Date.now() > until) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  process.stdout.write(
    `No running host will resume it. Resume it with: codemode runs resume ${plainLine(`${runId}${config}`)}\n`,
  );
  noteOwnName('codemode runs');
}

async function makeSecret(records: ComposedRecords): Promise<number> {
  if (!hasPersonAtTerminal()) {
    const isGiven = await records.approverSecret.isGiven();
    if (isGiven !== true)
      throw new HostError('bad_input', 'a secret is made on a terminal, where only you can read it; type it in one');
  }
  process.stdout.write(`${await records.approverSecret.make()}\n`);
  process.stderr.write('Keep this secret: anyone who has it can approve calls. It replaces the previous one.\n');
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

/** By its id or a prefix of it. `last` is the newest pending one, or with `any` and none pending the newest of all. */
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
