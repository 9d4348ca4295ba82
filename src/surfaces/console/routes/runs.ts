import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import type { OpenedRun, RunQuery } from '../../../domain/console/runs.js';
import { readExportedRun } from '../../../host/admin/console/exported-run.js';
import { readRequest } from '../../http/read-request.js';
import type { ConsoleContext } from '../console-options.js';

const MAX_TEXT = 200;
/** Largest position of a delivery. Call numbers can be larger: those of a stored script start at its own offset. */
const MAX_POSITION = 10_000_000;
const number = (most: number) => z.coerce.number().int().min(0).max(most);

const querySchema = z.strictObject({
  state: z.enum(['queued', 'running', 'suspended', 'succeeded', 'failed', 'cancelled']).optional(),
  caller: z.string().max(MAX_TEXT).optional(),
  profile: z.string().max(MAX_TEXT).optional(),
  text: z.string().max(MAX_TEXT).optional(),
  sinceMs: number(Number.MAX_SAFE_INTEGER).optional(),
  limit: z.coerce.number().int().min(1).max(200).optional(),
  cursor: z.string().max(64).optional(),
});

const deliveriesSchema = z.strictObject({
  from: number(MAX_POSITION).default(0),
  limit: z.coerce.number().int().min(1).max(500).default(200),
});

interface OneRun {
  readonly Params: { readonly id: string };
}

/** Runs, and the actions on a run. */
export function mountRuns(scope: FastifyInstance, { options }: ConsoleContext): void {
  const { history } = options;
  const owners = { config: { isOwnersOnly: true } };
  scope.get('/runs', (request) => history.page(readRequest(querySchema, request.query, 'the query') as RunQuery));
  scope.get<OneRun>('/runs/:id', ({ params: { id } }) => history.detail(id));
  scope.get<OneRun>('/runs/:id/deliveries', ({ params: { id }, query }) => {
    const { from, limit } = readRequest(deliveriesSchema, query, 'the query');
    return history.deliveries(id, from, limit);
  });
  scope.get<{ Params: { id: string; position: string } }>('/runs/:id/deliveries/:position', ({ params }) =>
    history.delivery(params.id, wholeNumber(params.position)),
  );
  scope.get<{ Params: { id: string; number: string } }>('/runs/:id/calls/:number', ({ params }) =>
    history.callArguments(params.id, wholeNumber(params.number, Number.MAX_SAFE_INTEGER)),
  );
  scope.get<OneRun>('/runs/:id/program', ({ params: { id } }) => history.program(id));
  scope.post<OneRun>('/runs/:id/replay', owners, ({ params: { id } }) => history.replay(id));
  scope.post<OneRun>('/runs/:id/cancel', owners, ({ params: { id } }) => history.cancel(id));
  scope.post<OneRun>('/runs/:id/resume', owners, ({ params: { id } }) => history.resume(id));
  scope.get<OneRun>('/runs/:id/export', async ({ params: { id } }, reply) => {
    const exported = await history.export(id);
    const name = `codemode-run-${id.replace(/[^\w-]/g, '').slice(0, 40)}.json`;
    void reply.header('content-disposition', `attachment; filename="${name}"`);
    return exported;
  });
  scope.post('/runs/open', ({ body }): OpenedRun => readExportedRun(body));
}

function wholeNumber(text: string, most = MAX_POSITION): number {
  return readRequest(number(most), text, 'the number in the address');
}
