import type { FastifyInstance } from 'fastify';

/** What anybody who reaches the port may know: whether the process is alive, and whether it is ready or why not. */
export function mountHealth(app: FastifyInstance, whyNotReady: () => Promise<string | undefined>): void {
  app.get('/healthz', { config: { isPublic: true } }, () => ({ status: 'ok' }));
  app.get('/readyz', { config: { isPublic: true } }, async (_request, reply) => {
    const reason = await whyNotReady();
    return reason === undefined ? { status: 'ready' } : reply.code(503).send({ status: 'not ready', reason });
  });
}
