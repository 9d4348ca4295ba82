import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import type { AuditFilter } from '../../../domain/audit.js';
import type { AuditPage } from '../../../domain/console/audit.js';
import { HostError } from '../../../domain/errors.js';
import { OWN_CALLERS } from '../../../domain/own-callers.js';
import type { AuditLog } from '../../../host/admin/audit-log.js';
import { readRequest } from '../../http/read-request.js';
import type { ConsoleContext } from '../console-options.js';

const MAX_PAGE = 500;
const text = z.string().max(200).optional();
const filter = {
  ...{ runId: text, serverId: text, toolName: text },
  sinceMs: z.coerce.number().int().min(0).optional(),
};
const exportSchema = z.strictObject(filter);
const querySchema = z.strictObject({
  ...filter,
  before: z.coerce.number().int().min(1).optional(),
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(100),
});

/** The audit log: records, the check of the whole chain, and an export. */
export function mountAudit(scope: FastifyInstance, { options }: ConsoleContext): void {
  const opened = async (): Promise<AuditLog> => {
    if (options.audit !== undefined) return options.audit();
    throw new HostError('not_found', 'The audit log is switched off: set audit.enabled in the configuration.');
  };
  scope.get('/audit', async ({ query }): Promise<AuditPage> => {
    const { before, limit, ...rest } = readRequest(querySchema, query, 'the query');
    if (options.audit === undefined) return { records: [], ownCallers: OWN_CALLERS, isOff: true };
    const records = await (await opened()).before(rest as AuditFilter, before, limit);
    const last = records.at(-1);
    const more = records.length < limit || last === undefined ? {} : { before: last.number };
    return { records, ownCallers: OWN_CALLERS, ...more };
  });
  scope.post('/audit/verify', async () => (await opened()).verify());
  scope.get('/audit/export', async ({ query }, reply) => {
    const log = await opened();
    const chosen = readRequest(exportSchema, query, 'the query') as AuditFilter;
    void reply.header('content-disposition', 'attachment; filename="codemode-audit.jsonl"').type('application/jsonl');
    return reply.send(Readable.from(lines(log.each(chosen))));
  });
}

async function* lines(records: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const record of records) yield `${JSON.stringify(record)}\n`;
}
