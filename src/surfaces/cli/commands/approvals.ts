import { userInfo } from 'node:os';
import { type Approval, cardsOf, GRANT_SCOPES, type GrantScope } from '../../../domain/approval.js';
import { HostError } from '../../../domain/errors.js';
import { EXIT, type Register, withRecords } from '../command.js';
import type { ComposedRecords } from '../composed.js';
import { plain, printableJson, styled } from '../terminal.js';

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
    .argument('<id>')
    .description('one of them: arguments, reason, and the code around the call')
    .option('--json', 'as JSON')
    .addHelpText('after', STATUS)
    .action(async (id: string, flags: { json?: boolean }) => {
      context.exitWith(await withRecords(context, (records) => show(records, id, flags.json === true)));
    });
  approvals
    .command('approve')
    .argument('<id>')
    .description('let the call be made')
    .option('--scope <scope>', `how far the yes reaches: ${GRANT_SCOPES.join(', ')}`, 'call')
    .option('--reason <text>', 'why; it is recorded')
    .addHelpText('after', STATUS)
    .action(async (id: string, flags: DecideFlags) => {
      context.exitWith(await withRecords(context, (records) => decide(records, id, 'APPROVED', flags)));
    });
  approvals
    .command('deny')
    .argument('<id>')
    .description('refuse it; the program is told, with the reason')
    .option('--scope <scope>', 'call, or calls for all of the same card', 'call')
    .option('--reason <text>', 'why; it is recorded, and the program is told')
    .addHelpText('after', STATUS)
    .action(async (id: string, flags: DecideFlags) => {
      context.exitWith(await withRecords(context, (records) => decide(records, id, 'DENIED', flags)));
    });
  approvals
    .command('secret')
    .description('make the secret by which you decide without a terminal (CODEMODE_APPROVER_SECRET)')
    .addHelpText('after', STATUS)
    .action(async () => {
      context.exitWith(await withRecords(context, makeSecret));
    });
};

const HELP = `
A decision needs a terminal or the approver's secret in CODEMODE_APPROVER_SECRET: an agent that can only start programs
decides nothing. Scopes: call (this call with these arguments), calls (all calls of this tool that wait in this run),
run (this tool until the run ends), hour (this tool, for this caller, for an hour).

--json prints [{ "id", "runId", "serverId", "toolName", "arguments", "state", "createdAt", "expiresAt", "reason" }].

Exit status: 0 it was listed or decided, 1 somebody else has decided before, or it has expired, 2 no such approval,
or neither a terminal nor the right secret.
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
  else for (const card of cardsOf(found)) process.stdout.write(`${lineOf(card)}\n`);
  return EXIT.ok;
}

async function show({ approvals }: ComposedRecords, id: string, isJson: boolean): Promise<number> {
  const approval = await mustFind(approvals, id);
  if (isJson) {
    process.stdout.write(`${printableJson({ ...asJson(approval), code: approval.code }, true)}\n`);
    return EXIT.ok;
  }
  const { tool, reason, runId, state, code, decision } = approval;
  const lines = [
    `${styled('bold', `${tool.serverId}/${tool.toolName}`)}  ${state}`,
    `why it is asked:  ${reason}`,
    `run:              ${runId}, call ${approval.call}`,
    `expires:          ${new Date(approval.expiresAtMs).toISOString()}`,
    ...(decision === undefined
      ? []
      : [`decided:          by ${decision.by}${decision.reason === undefined ? '' : `: ${decision.reason}`}`]),
    'arguments:',
    printableJson(approval.arguments, true),
    ...(code === '' ? [] : ['in the program:', code]),
  ];
  process.stdout.write(`${plain(lines.join('\n'))}\n`);
  return EXIT.ok;
}

async function decide(
  records: ComposedRecords,
  id: string,
  state: 'APPROVED' | 'DENIED',
  { scope, reason }: DecideFlags,
): Promise<number> {
  const by = await personOf(records);
  const approval = await mustFind(records.approvals, id);
  const decided = await records.approvals.decide(id, state, {
    by,
    scope: scopeOf(scope),
    ...(reason === undefined ? {} : { reason }),
  });
  const verb = state === 'APPROVED' ? 'approved' : 'denied';
  if (!decided.isFirst) {
    const { state: before, decision } = decided.approval;
    const who = decision === undefined ? '' : ` by ${decision.by}`;
    process.stderr.write(`codemode: ${plain(`${id} was ${before.toLowerCase()}${who} before; nothing was changed`)}\n`);
    return EXIT.failed;
  }
  const count = decided.approvals.length;
  process.stdout.write(`${plain(`${verb}: ${count === 1 ? id : `${count} calls`}`)}\n`);
  if (!approval.runId.startsWith('direct-')) await sayWhatNext(records, approval.runId);
  return EXIT.ok;
}

/** Long enough for a host that is up to take the run. */
const NOTICE_MS = 1_500;

async function sayWhatNext({ sleeping, approvals }: ComposedRecords, runId: string): Promise<void> {
  const open = (await approvals.ofRun(runId)).filter(({ state }) => state === 'PENDING');
  if (open.length > 0) {
    process.stdout.write(`run ${plain(runId)} still waits for ${open.length} more: codemode approvals\n`);
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
  process.stdout.write(`no host is up that goes on with it; to go on now: codemode runs resume ${plain(runId)}\n`);
}

/** Throws where nobody can be seen to be a person. */
async function personOf({ approverSecret }: ComposedRecords): Promise<string> {
  const isGiven = await approverSecret.isGiven();
  if (isGiven === true) return `${userInfo().username} (secret)`;
  if (isGiven === false)
    throw new HostError(
      'bad_input',
      "CODEMODE_APPROVER_SECRET is not the approver's secret; make one with: codemode approvals secret",
    );
  if (process.stdin.isTTY === true && process.stdout.isTTY === true) return `${userInfo().username} (terminal)`;
  throw new HostError(
    'bad_input',
    "a decision needs a terminal, or the approver's secret in CODEMODE_APPROVER_SECRET (codemode approvals secret makes one)",
  );
}

async function makeSecret(records: ComposedRecords): Promise<number> {
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true) {
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

async function mustFind(approvals: ComposedRecords['approvals'], id: string): Promise<Approval> {
  const approval = await approvals.find(id);
  if (approval !== undefined) return approval;
  throw new HostError(
    'not_found',
    `there is no approval ${JSON.stringify(id.slice(0, 60))}; list them with: codemode approvals`,
  );
}

const MAX_ARGUMENT_CHARACTERS = 100;

function lineOf(card: readonly Approval[]): string {
  const [first] = card as [Approval];
  const { id, tool, reason, state } = first;
  const json = JSON.stringify(first.arguments);
  const shown = json.length > MAX_ARGUMENT_CHARACTERS ? `${json.slice(0, MAX_ARGUMENT_CHARACTERS)}...` : json;
  const count = card.length === 1 ? '' : `  and ${card.length - 1} more calls (--scope calls)`;
  return plain(`${id}  ${state}  ${tool.serverId}/${tool.toolName}  ${shown}${count}\n  ${reason}; run ${first.runId}`);
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
