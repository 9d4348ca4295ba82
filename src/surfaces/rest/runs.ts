import type { FastifyInstance } from 'fastify';
import { HostError, isHostError } from '../../domain/errors.js';
import type { JsonValue } from '../../domain/json.js';
import { callerOf, type Principal } from '../../domain/principal.js';
import type { CallerId } from '../../domain/run.js';
import type { RunView } from '../../host/host.js';
import { renderRefusal } from '../../profiles/unified/render.js';
import type { LiveRun, RestContext } from './rest-context.js';

const MAX_LISTED = 100;

/** Runs of the caller, those in progress and those that sleep or have ended. Nobody sees another's. */
export function mountRuns(scope: FastifyInstance, rest: RestContext): void {
  const { host } = rest.options;
  const callerFor = (principal: Principal | undefined) => callerOf(principal as Principal);
  scope.get('/runs', async (request) => {
    const caller = callerFor(request.principal);
    const stored = await host.listRuns(caller, MAX_LISTED);
    return { runs: [...rest.liveRunsOf(caller).map(liveView), ...stored.map(storedView)] };
  });
  scope.get<{ Params: { id: string } }>('/runs/:id', async (request) => {
    const caller = callerFor(request.principal);
    const live = liveRun(rest, caller, request.params.id);
    if (live !== undefined) return liveView(live);
    const run = await ownRun(rest, caller, request.params.id);
    return { ...storedView(run), response: responseOf(run) };
  });
  scope.get<{ Params: { id: string } }>('/runs/:id/result', async (request, reply) => {
    const caller = callerFor(request.principal);
    const live = liveRun(rest, caller, request.params.id);
    if (live !== undefined) return reply.code(202).send(liveView(live));
    const run = await ownRun(rest, caller, request.params.id);
    const response = responseOf(run);
    return response === null ? reply.code(202).send(storedView(run)) : response;
  });
  scope.post<{ Params: { id: string } }>('/runs/:id/cancel', async (request) => {
    const caller = callerFor(request.principal);
    const live = liveRun(rest, caller, request.params.id);
    if (live !== undefined) {
      live.cancel();
      return { ...liveView(live), state: 'cancelled' };
    }
    const run = await ownRun(rest, caller, request.params.id);
    return storedView(await host.cancelRun(run.runId));
  });
}

function liveRun(rest: RestContext, caller: CallerId, id: string): LiveRun | undefined {
  return rest.liveRunsOf(caller).find(({ runId }) => runId === id);
}

/** Somebody else's is the same as none. */
async function ownRun(rest: RestContext, caller: CallerId, id: string): Promise<RunView> {
  const run = await rest.options.host.showRun(id).catch((error: unknown) => {
    if (isHostError(error, 'not_found')) return undefined;
    throw error;
  });
  if (run?.caller === caller) return run;
  throw new HostError('not_found', `there is no run ${JSON.stringify(id.slice(0, 100))} of yours`);
}

/** Null while it is not over. One that was cancelled in its sleep has left no answer of its own. */
function responseOf({ runId, state, response }: RunView): JsonValue {
  if (state !== 'cancelled' || response !== null) return response;
  return renderRefusal(new HostError('cancelled', 'the run was cancelled'), runId) as unknown as JsonValue;
}

function liveView({ runId, startedAtMs }: LiveRun) {
  return { runId, state: 'running', createdAt: new Date(startedAtMs).toISOString() };
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
