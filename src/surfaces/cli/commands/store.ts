import { HostError } from '../../../domain/errors.js';
import type { SharedStoreAdmin, SharedStoreStatus } from '../../../domain/shared-store.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { type CommandContext, EXIT, type Register } from '../command.js';
import { renderTable } from '../terminal/table.js';
import { plainLine, printableJson } from '../terminal/terminal.js';

export const register: Register = (program, context) => {
  const store = program
    .command('store')
    .description('show the database that several hosts share: its hosts, runs, queue and schema')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (flags: { json?: boolean }) => {
      const status = await withStore(context, (admin) => admin.status());
      process.stdout.write(`${flags.json === true ? printableJson(status, true) : render(status)}\n`);
      context.exitWith(EXIT.ok);
    });
  store
    .command('migrate')
    .description('create or upgrade its schema, as the role that owns it')
    .option('--grant <role>', 'let this role read and write rows, and nothing else; hosts can run as it')
    .addHelpText('after', MIGRATE_HELP)
    .action(async ({ grant }: { grant?: string }) => {
      const { schemaVersion } = await withStore(context, (admin) => admin.migrate(omitUndefined({ grantTo: grant })));
      const granted = grant === undefined ? '' : `; ${grant} may read and write its rows`;
      process.stdout.write(`${plainLine(`the schema is at version ${schemaVersion}${granted}`)}\n`);
      context.exitWith(EXIT.ok);
    });
  store
    .command('copy')
    .description('copy runs, approvals, scripts, logins and the spending between the state folder and the database')
    .option('--to-state-folder', 'from the database to the state folder of this machine; without it, the other way')
    .addHelpText('after', COPY_HELP)
    .action(async ({ toStateFolder }: { toStateFolder?: boolean }) => {
      const copied = await context.copyStore(toStateFolder === true ? 'to-state-folder' : 'to-database');
      const rows = Object.entries(copied).map(([what, count]) => ({ cells: [what, String(count)] }));
      process.stdout.write(`${renderTable([{ title: 'copied' }, { title: 'rows', isNumber: true }], rows)}\n`);
      context.exitWith(EXIT.ok);
    });
};

const HELP = `
The address is \`store\` of the configuration, or CODEMODE_STORE. Needs no key and no jail.

Exit status: 0 it was shown, 2 there is none or its address is wrong, 69 it does not answer.
`;

const MIGRATE_HELP = `
A host does this at its start. Where hosts run as a role that may not, the owner of the database does it with this command,
before the first host of a new version starts. Hosts of the version before continue to work.

Exit status: 0 it is up to date, 2 the role lacks a right or the schema is of a newer version, 69 it does not answer.
`;

const COPY_HELP = `
Stop all hosts first. What is there already stays as it is. Everything stays sealed, so hosts need the key of the state folder:
security.keyFile, or CODEMODE_KEY. A state folder without a key gets that of the hosts. The audit log is not copied: it stays with what
recorded it, and codemode audit verify checks it there.

Exit status: 0 it was copied, 2 there is no database or another key, 69 it does not answer.
`;

async function withStore<Result>(
  context: CommandContext,
  act: (admin: SharedStoreAdmin) => Promise<Result>,
): Promise<Result> {
  const admin = await context.sharedStore();
  if (admin === undefined) {
    throw new HostError(
      'bad_config',
      'no database is configured: this machine keeps everything in its state folder. To share one, set `store` or CODEMODE_STORE ' +
        'to postgres://user:password@host/database',
    );
  }
  try {
    return await act(admin);
  } finally {
    await admin.close();
  }
}

function render(status: SharedStoreStatus): string {
  const { runs, queue, connections } = status;
  const facts = [
    ['address', `${status.address}, PostgreSQL ${status.serverVersion}${status.isEncrypted ? ', TLS' : ''}`],
    ['schema', `${status.schemaVersion} (this program knows ${status.knownVersion})`],
    ['size', `${(status.databaseBytes / 1024 / 1024).toFixed(1)} MiB`],
    ['answers in', `${status.roundTripMs} ms`],
    ['connections', `${connections.used} of ${connections.max}`],
    [
      'runs',
      `${runs.suspended} suspended, ${runs.resumed} resumed, ${runs.isEstimate ? 'about ' : ''}${runs.ended} in all`,
    ],
    ['approvals', `${status.pendingApprovals} pending`],
    ['queue', `${queue.ready} ready, ${queue.later} later, ${queue.taken} taken, ${Math.round(queue.lagMs)} ms behind`],
    ...status.hosts.map(({ name, id, leaseLeftMs }) => [
      'host',
      `${name} (${id.slice(0, 8)}) ${leaseLeftMs > 0 ? `up, lease for ${Math.ceil(leaseLeftMs / 1_000)} s` : 'gone'}`,
    ]),
  ];
  return renderTable(
    [{ title: 'what' }, { title: 'is' }],
    facts.map((cells) => ({ cells: cells as [string, string] })),
  );
}
