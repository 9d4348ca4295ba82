import { isHostError } from '../../../domain/errors.js';
import type { SharedStoreStatus } from '../../../domain/shared-store.js';
import type { Finding } from '../../../host/admin/inspection.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import type { CommandContext } from '../command.js';

const NAME = 'Database';
/** Every record of a run waits for the database. */
const SLOW_MS = 20;
/** Leases use the database's clock. People see times of this machine's clock. */
const SKEWED_MS = 5_000;
const FEW_CONNECTIONS = 0.9;

/** Findings about the database that hosts share. An unusable one counts as missing: nothing works without it. */
export async function databaseFindings(context: Pick<CommandContext, 'sharedStore'>): Promise<Finding[]> {
  try {
    const admin = await context.sharedStore();
    if (admin === undefined) return [];
    try {
      return [...findingsOf(await admin.status()), ...(await refusals(() => admin.requireUsable()))];
    } finally {
      await admin.close();
    }
  } catch (error) {
    return [refusal(error)];
  }
}

async function refusals(check: () => Promise<void>): Promise<Finding[]> {
  return check().then(
    () => [],
    (error: unknown) => [refusal(error)],
  );
}

function refusal(error: unknown): Finding {
  if (!isHostError(error)) throw error;
  return { name: NAME, state: 'missing', message: error.message };
}

export function findingsOf(status: SharedStoreStatus): Finding[] {
  const { address, serverVersion, roundTripMs, clockAheadMs, connections, schemaVersion, knownVersion } = status;
  const live = status.hosts.filter(({ leaseLeftMs }) => leaseLeftMs > 0).length;
  const findings: Finding[] = [
    {
      name: NAME,
      state: 'ok',
      message:
        `${address}, PostgreSQL ${serverVersion}${status.isEncrypted ? ', TLS verified' : ', not encrypted'}, answers in ${roundTripMs} ms; ` +
        `schema ${schemaVersion}, ${live} ${live === 1 ? 'host' : 'hosts'} up, ${connections.used} of ${connections.max} connections in use`,
    },
  ];
  const warn = (message: string, fix?: string): void => {
    findings.push({ name: NAME, state: 'warning', message, ...omitUndefined({ fix }) });
  };
  if (schemaVersion < knownVersion)
    warn(
      `the schema is at ${schemaVersion}, this program brings ${knownVersion}; a host migrates it at its start`,
      'codemode store migrate',
    );
  if (roundTripMs > SLOW_MS)
    warn(`it takes ${roundTripMs} ms to answer, and every record of a run waits for it`, 'put hosts near the database');
  if (Math.abs(clockAheadMs) > SKEWED_MS)
    warn(
      `the clock of this machine is ${Math.round(Math.abs(clockAheadMs) / 1_000)} s ${clockAheadMs > 0 ? 'ahead of' : 'behind'} the database's`,
      'timedatectl set-ntp true',
    );
  if (!status.isListening)
    warn(
      'announcements of other hosts do not arrive, so hosts poll several times a second',
      'connect without a transaction pooler',
    );
  if (connections.used > connections.max * FEW_CONNECTIONS)
    warn('it is nearly out of connections', 'lower cluster.connections, or raise max_connections of PostgreSQL');
  return findings;
}
