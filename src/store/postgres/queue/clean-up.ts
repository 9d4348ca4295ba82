import * as z from 'zod';
import type { CallerQuotas } from '../../../domain/quotas.js';
import type { Postgres } from '../database/connection.js';
import { RESULT_PREFIX } from '../database/sealed-values.js';
import { isUp } from '../host-lease.js';
import { markAllReady } from '../runs/run-lock.js';
import { QUEUE_SCHEMA } from './jobs.js';

const payloadSchema = z.object({ caller: z.string().optional() });
/** Unreferenced modules are kept for longer than hosts assume that they are stored. */
const MODULES_KEPT = '1 hour';
/** Rows of ended hosts are kept this long for people to inspect. */
const HOSTS_KEPT = '1 day';
/** Results under handles. A running host keeps its own for longer. */
const RESULTS_KEPT = '1 day';

/** With a caller: deletes its oldest ended runs beyond its quota. Without one: deletes what hosts that are gone left behind. */
export async function cleanUp(postgres: Postgres, quotas: CallerQuotas, payload: unknown): Promise<void> {
  const { caller } = payloadSchema.parse(payload ?? {});
  if (caller === undefined) await forgetGone(postgres);
  else await forgetOldest(postgres, caller, quotas.limits.history);
}

async function forgetOldest(postgres: Postgres, caller: string, kept: number): Promise<void> {
  await postgres.change(
    `DELETE FROM codemode.runs WHERE caller = $1 AND state <> 'suspended' AND created_at <
      (SELECT created_at FROM codemode.runs WHERE caller = $1 ORDER BY created_at DESC LIMIT 1 OFFSET $2)`,
    [caller, kept - 1],
  );
}

async function forgetGone(postgres: Postgres): Promise<void> {
  await markAllReady(postgres);
  await postgres.change(
    `DELETE FROM codemode.run_modules WHERE saved_at < now() - interval '${MODULES_KEPT}'
      AND NOT EXISTS (SELECT 1 FROM codemode.runs WHERE runs.modules = run_modules.digest)`,
  );
  await postgres.change(`DELETE FROM codemode.live_runs WHERE NOT ${isUp('live_runs.host')}`);
  await postgres.change(`DELETE FROM codemode.hosts WHERE expires_at < now() - interval '${HOSTS_KEPT}'`);
  await postgres.change(
    `DELETE FROM codemode.sealed_values WHERE starts_with(name, '${RESULT_PREFIX}') AND saved_at < now() - interval '${RESULTS_KEPT}'`,
  );
  // Jobs that died with their hosts. Their work has been added again since.
  await postgres.query(
    `SELECT count(*) FROM ${QUEUE_SCHEMA}.complete_jobs(ARRAY(SELECT id FROM ${QUEUE_SCHEMA}.jobs WHERE attempts >= max_attempts))`,
  );
}
