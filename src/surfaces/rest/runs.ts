import type { FastifyInstance } from 'fastify';
import { HostError, isHostError } from '../../domain/errors.js';
import type { JsonValue } from '../../domain/json.js';
import { callerOf, type Principal } from '../../domain/principal.js';
import type { CallerId } from '../../domain/run.js';
import type { PresentRun, RunView } from '../../host/host.js';
import { renderRefusal } from '../../profiles/unified/render.js';
import type { LiveRun, RestContext } from './rest-context.js';

const MAX_LISTED = 100;

/** Runs of the caller on any host: in progress, suspended or over. A caller never sees another caller's runs. */
export function mountRuns(scope: FastifyInstance, rest: RestContext): void {
  const { host } = rest.options;
  const callerFor = (principal: Principal | undefined) => callerOf(principal as Principal);
  scope.get('/runs', async (request) => {
    const caller = callerFor(request.principal);
    const [stored, elsewhere] = await Promise.all([host.listRuns(caller, MAX_LISTED), host.runsElsewhere(caller)]);
    const live = [...rest.liveRunsOf(caller), ...elsewhere.filter(({ runId }) => !isAmong(stored, runId))];
    return { runs: [...live.map(liveView), ...stored.map(storedView)] };
  });
  scope.get<{ Params: { id: string } }>('/runs/:id', async (request) => {
    const run = await ownRun(rest, callerFor(request.principal), request.params.id);
    return 'response' in run ? { ...storedView(run), response: responseOf(run) } : liveView(run);
  });
  scope.get<{ Params: { id: string } }>('/runs/:id/result', async (request, reply) => {
    const run = await ownRun(rest, callerFor(request.principal), request.params.id);
    if (!('response' in run)) return reply.code(202).send(liveView(run));
    const response = responseOf(run);
    return response === null ? reply.code(202).send(storedView(run)) : response;
  });
  scope.post<{ Params: { id: string } }>('/runs/:id/cancel', async (request) => {
    const run = await ownRun(rest, callerFor(request.principal), request.params.id);
    if ('response' in run) return storedView(await host.cancelRun(run.runId));
    if ('cancel' in run) run.cancel();
    else await host.cancelElsewhere(run.runId);
    return { ...liveView(run), state: 'cancelled' };
  });
}

/** A run of this caller: in progress here, stored, or in progress on another host. Another caller's run is `not_found`. */
async function ownRun(rest: RestContext, caller: CallerId, id: string): Promise<LiveRun | RunView | PresentRun> {
  const live = rest.liveRunsOf(caller).find(({ runId }) => runId === id);
  if (live !== undefined) return live;
  const { host } = rest.options;
  const stored = await host.showRun(id).catch((error: unknown) => {
    if (isHostError(error, 'not_found')) return undefined;
    throw error;
  });
  const run = stored ?? (await host.runElsewhere(id));
  if (run?.caller === caller) return run;
  throw new HostError('not_found', `there is no run ${JSON.stringify(id.slice(0, 100))} of yours`);
}

function isAmong(runs: readonly RunView[], id: string): boolean {
  return runs.some(({ runId }) => runId === id);
}

/** Null while the run is not over. A run that was cancelled while suspended has no response of its own. */
function responseOf({ runId, state, response }: RunView): JsonValue {
  if (state !== 'cancelled' || response !== null) return response;
  return renderRefusal(new HostError('cancelled', 'the run was cancelled'), runId) as unknown as JsonValue;
}

function liveView({ runId, createdAtMs }: LiveRun | PresentRun) {
  return { runId, state: 'running', createdAt: new Date(createdAtMs).toISOString() };
}

function storedView({ runId, state, profile, createdAtMs, updatedAtMs, approvals }: RunView) {
  return {
    runId,
    state,
    profile,
    createdAt: new Date(createdAtMs).toISOString(),
    updatedAt: new Date(updatedAtMs).toISOString(),
    approvals: approvals.map(({ id, state: decided }) => ({ id, state: decided })),
  };
}
